import type * as z from 'zod'
import type { limitsRow } from '../../../shared/payments/payment.ts'
import { Section, Time } from './show.tsx'
import { heldUsd, spentUsd } from './usd.ts'

type LimitsRow = z.output<typeof limitsRow>

const words: Record<keyof LimitsRow, string> = {
  automatic_daily: 'Without asking',
  asserted_daily: 'Confirmed by the agent',
  daily_spending_cap: 'Everything together',
}

/** What agents spent in the last 24 hours, against each limit. */
export function Spent({ limits }: { limits: LimitsRow }) {
  return (
    <Section title="Spent in the last 24 hours">
      <div class="bars">
        <Bar name="automatic_daily" limits={limits} />
        <Bar name="asserted_daily" limits={limits} />
        <Bar name="daily_spending_cap" limits={limits} />
      </div>
    </Section>
  )
}

function Bar({ name, limits }: { name: keyof LimitsRow; limits: LimitsRow }) {
  const { limit, spent, resetsAt } = limits[name]
  const most = Number(limit) / 1e6
  return (
    <div class="bar">
      <div class="head">
        <span id={`limit-${name}`}>{words[name]}</span>
        <span class="money">
          {spentUsd(spent)} <span class="unit">of {heldUsd(limit)} USD</span>
        </span>
      </div>
      <meter
        aria-labelledby={`limit-${name}`}
        min="0"
        max={most === 0 ? 1 : most}
        low={most * 0.75}
        high={most * 0.95}
        optimum={0}
        value={Number(spent) / 1e6}
      />
      {spent > 0n && resetsAt !== null && (
        <p class="hint">
          Begins to free up at <Time at={resetsAt} />
        </p>
      )}
    </div>
  )
}
