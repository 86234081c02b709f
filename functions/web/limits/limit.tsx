/** One limit: its meaning, what is used of it, and the form that changes it. */
import { formatUsd } from '../../../shared/money/amount.ts'
import type { Window } from '../../../shared/policy/facts.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Section } from '../ui/show.tsx'
import { Used } from '../ui/spent.tsx'
import type { PageContext } from '../visit.ts'
import { type LimitName, limitWords } from './limits-data.ts'

/** Limit that was entered and not set, with the reason if it was refused. */
export type Entry = { name: LimitName; usd: string; problem?: string }

/** Shows the limit with its form. */
export function Limit({
  c,
  name,
  limit,
  window,
  entry,
}: {
  c: PageContext
  name: LimitName
  limit: bigint
  /** Set for a limit over time. */
  window: Window | undefined
  entry: Entry | undefined
}) {
  const { title, meaning } = limitWords[name]
  const own = entry?.name === name ? entry : undefined
  const about = <span class="unseen"> for “{title}”</span>
  return (
    <Section title={title}>
      <p>{meaning}</p>
      {window && <Used id={`used-${name}`} label="Used in the last 24 hours" window={window} />}
      <Form c={c} class="row">
        <input type="hidden" name="limit" value={name} />
        <Field
          name={`usd_${name}`}
          label={<>Limit{about}</>}
          value={own?.usd ?? formatUsd(limit)}
          unit="USD"
          inputmode="decimal"
          autocomplete="off"
          maxlength={20}
          required
          {...(own?.problem === undefined ? {} : { error: own.problem })}
        />
        <Button kind="plain">Save{about}</Button>
      </Form>
    </Section>
  )
}
