import type { Config } from '../../../shared/env.ts'
import { BarChart, StepChart } from '../ui/charts.tsx'
import { Empty, Section } from '../ui/show.tsx'
import { usdRoundedDown, usdRoundedUp } from '../ui/usd.ts'
import { balanceHistory, type Moved } from './balance-history.ts'
import type { ChainHoldings } from './holdings.tsx'

/** Draws the spending of agents on each day, against the daily cap. */
export function SpendChart({
  days,
  spent,
  capUsdMicros,
}: {
  days: readonly string[]
  spent: readonly { day: string; usd_micros: bigint }[]
  capUsdMicros: bigint
}) {
  const byDay = new Map(spent.map(({ day, usd_micros }) => [day, usd_micros]))
  const points = days.map((day) => point(day, byDay.get(day) ?? 0n, usdRoundedUp))
  const total = points.reduce((sum, { value }) => sum + value, 0n)
  return (
    <Section title="Spending per day">
      {total === 0n ? (
        <Empty>{`Nothing was spent in the last ${days.length} days.`}</Empty>
      ) : (
        <BarChart
          id="spending"
          title="Spending per day in USD"
          says={`${usdRoundedUp(total)} USD in ${days.length} days.`}
          unit="USD"
          points={points}
          cap={{ value: capUsdMicros, text: usdRoundedDown(capUsdMicros) }}
        />
      )}
    </Section>
  )
}

/** Draws the value of the account at the end of each day, if every chain has answered. */
export function BalanceChart({
  days,
  openedOn,
  chains,
  moved,
  config,
}: {
  days: readonly string[]
  /** Day on which the account was opened; it held nothing before. */
  openedOn: string
  chains: readonly ChainHoldings[]
  moved: readonly Moved[]
  config: Config
}) {
  const isWhole = chains.every(({ tokens }) => tokens !== undefined)
  const held = chains.flatMap(({ chain, tokens = [] }) =>
    tokens.map(({ token, amountAtomic }) => ({ chain: chain.id, token, atomic: amountAtomic })),
  )
  const values = balanceHistory(days, held, moved, config)
  const valueOn = (day: string, at: number) => (day < openedOn ? 0n : (values[at] ?? 0n))
  const points = days.map((day, at) => point(day, valueOn(day, at), usdRoundedDown))
  const [first, last] = [points[0], points.at(-1)]
  return (
    <Section title="Balance over time">
      {!isWhole ? (
        <Empty>A chain did not answer, so this cannot be drawn right now.</Empty>
      ) : points.every(({ value }) => value === 0n) ? (
        <Empty>There is nothing to draw before the first deposit.</Empty>
      ) : (
        <StepChart
          id="balance"
          title="Balance at the end of each day in USD"
          says={`From ${first?.text ?? ''} to ${last?.text ?? ''} USD in ${days.length} days, from what is held now and what moved.`}
          unit="USD"
          points={points}
        />
      )}
    </Section>
  )
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Makes a point of a day, labelled without the year. */
function point(day: string, value: bigint, inWords: (usdMicros: bigint) => string) {
  const [, month = '', date = ''] = day.split('-')
  const label = `${Number(date)} ${months[Number(month) - 1] ?? ''}`
  return { label, value, text: inWords(value) }
}
