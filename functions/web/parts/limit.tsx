/** One limit: what it means, what of it is used, and the form that changes it. */
import { formatUsd } from '../../../shared/money/amount.ts'
import type { Window } from '../../../shared/policy/facts.ts'
import type { LimitName } from '../data/limits.ts'
import { limitWords } from '../data/limits.ts'
import type { Visit } from '../visit.ts'
import { Button, Field, Form } from './form.tsx'
import { Section } from './show.tsx'
import { Used } from './spent.tsx'

/** What was typed and not set, and why where it was refused. */
export type Entry = { name: LimitName; usd: string; problem?: string }

export function Limit({
  c,
  name,
  limit,
  window,
  entry,
}: {
  c: Visit
  name: LimitName
  limit: bigint
  /** Where it is a limit over time. */
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
