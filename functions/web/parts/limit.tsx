/** One limit: what it means, what of it is used, and the form that changes it. */
import { formatUsd } from '../../../shared/money/amount.ts'
import { headroom } from '../../../shared/policy/decide.ts'
import type { Window } from '../../../shared/policy/facts.ts'
import type { Visit } from '../visit.ts'
import { Button, Field, Form } from './form.tsx'
import { Facts, Money, Section } from './show.tsx'
import { heldUsd, spentUsd } from './usd.ts'

export const limitNames = [
  'automatic_daily',
  'asserted_daily',
  'asserted_new_recipient',
  'daily_spending_cap',
] as const
export type LimitName = (typeof limitNames)[number]

export const limitWords: Record<LimitName, { title: string; meaning: string }> = {
  automatic_daily: {
    title: 'Without asking',
    meaning:
      'What agents may pay in 24 hours with nobody asked, to recipients and from devices that are known.',
  },
  asserted_daily: {
    title: 'Confirmed by the agent',
    meaning:
      'What agents may pay in 24 hours when they say that the user confirmed it. Nobody checks their word.',
  },
  asserted_new_recipient: {
    title: 'New recipients',
    meaning:
      'The most that one payment to a new recipient may be on the word of an agent. Above it, you are asked.',
  },
  daily_spending_cap: {
    title: 'Everything together',
    meaning: 'The most that leaves the account in 24 hours, whoever approved it, you among them.',
  },
}

/** A refused entry is shown where it was typed. */
export type Entry = { name: LimitName; usd: string; problem: string }

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
  return (
    <Section title={title}>
      <p>{meaning}</p>
      {window && (
        <Facts
          facts={[
            ['Used in the last 24 hours', <Money amount={spentUsd(window.spent)} unit="USD" />],
            ['Left', <Money amount={heldUsd(headroom(window))} unit="USD" />],
          ]}
        />
      )}
      <Form c={c} class="row">
        <input type="hidden" name="limit" value={name} />
        <Field
          name={`usd_${name}`}
          label={`${title}, limit`}
          value={own?.usd ?? formatUsd(limit)}
          unit="USD"
          inputmode="decimal"
          autocomplete="off"
          maxlength={20}
          required
          {...(own ? { error: own.problem } : {})}
        />
        <Button kind="plain">Save</Button>
      </Form>
    </Section>
  )
}
