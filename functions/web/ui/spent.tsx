import type * as z from 'zod'
import type { limitsRow } from '../../../shared/payments/payment-with-facts.ts'
import type { Window } from '../../../shared/policy/facts.ts'
import { limitWords } from '../limits/limits-data.ts'
import { webAppPath } from '../visit.ts'
import { Section, Time, usdRoundedDown, usdRoundedUp } from './show.tsx'

const names = [
  'automatic_daily',
  'asserted_daily',
  'daily_spending_cap',
  'monthly_spending_cap',
] as const

/** Shows what agents spent in the last 24 hours against each limit. */
export function Spent({ limits }: { limits: z.output<typeof limitsRow> }) {
  return (
    <Section
      title="Spent in the last 24 hours"
      action={<a href={`${webAppPath}/limits`}>Change limits</a>}
    >
      <div class="bars">
        {names.map((name) => (
          <Used id={`limit-${name}`} label={limitWords[name].title} window={limits[name]} />
        ))}
      </div>
    </Section>
  )
}

/** Shows how much of one limit is used, as a bar and in figures. */
export function Used({ id, label, window }: { id: string; label: string; window: Window }) {
  const { limit, spent, resetsAt } = window
  const most = Number(limit) / 1e6
  return (
    <div class="bar">
      <div class="head">
        <span id={id}>{label}</span>
        <span class="money">
          {usdRoundedUp(spent)} <span class="unit">of {usdRoundedDown(limit)} USD</span>
        </span>
      </div>
      <meter
        aria-labelledby={id}
        min="0"
        max={most === 0 ? 1 : most}
        low={most * 0.75}
        high={most * 0.95}
        optimum={0}
        value={Number(spent) / 1e6}
      />
      {spent > 0n && resetsAt !== null && (
        <p class="hint">
          Starts to reset <Time at={resetsAt} isInSentence />
        </p>
      )}
    </div>
  )
}
