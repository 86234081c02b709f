import type { Config } from '../../../shared/env.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'
import { BarChart, StepChart } from '../ui/charts.tsx'
import { Empty, Section, usdRoundedDown, usdRoundedUp } from '../ui/show.tsx'
import { addDays, localTime, months, type Reader } from '../ui/zone.ts'
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
        <Empty>A network did not answer, so this chart is not available right now.</Empty>
      ) : points.every(({ value }) => value === 0n) ? (
        <Empty>The chart begins with the first deposit.</Empty>
      ) : (
        <StepChart
          title="Balance at the end of each day in USD"
          says={`From ${first?.text ?? ''} to ${last?.text ?? ''} USD in ${days.length} days, from what is held now and what moved.`}
          unit="USD"
          points={points}
        />
      )}
    </Section>
  )
}

/** Makes a point of a day, labelled without the year. */
function point(day: string, value: bigint, inWords: (usdMicros: bigint) => string) {
  const [, month, date] = day.split('-').map(Number)
  const label = `${date} ${months[(month ?? 1) - 1]?.slice(0, 3)}`
  return { label, value, text: inWords(value) }
}

/** Token on one chain. */
export type Asset = { chain: number; token: { address: string; symbol: string; decimals: number } }
/** Amount of a token that the wallet holds now. */
export type Held = Asset & { atomic: bigint }
/** Amount by which one token grew or shrank on one day. */
type Moved = { day: string; chain: number; token: string; atomic: bigint }

/**
 * Computes the value of the wallet at the end of each day from what it holds now and what moved since, in
 * micro-dollars. It uses today's rate for all days: the line shows transfers, not exchange rates.
 */
export function balanceHistory(
  days: readonly string[],
  held: readonly Held[],
  moved: readonly Moved[],
  config: Config,
): bigint[] {
  return days.map((day) =>
    held.reduce((total, { chain, token, atomic }) => {
      const since = moved.filter(
        (one) =>
          one.day > day &&
          one.chain === chain &&
          one.token.toLowerCase() === token.address.toLowerCase(),
      )
      const then = since.reduce((rest, one) => rest - one.atomic, atomic)
      // Deposits from before the index of deposits are unknown, so a balance can come out below zero.
      return total + (usdMicrosOf(token, then > 0n ? then : 0n, config) ?? 0n)
    }, 0n),
  )
}

/** Returns the days of the reader up to today, the oldest first. */
export function daysUpTo(reader: Reader, count: number): string[] {
  const today = localTime(reader.now, reader).day
  return Array.from({ length: count }, (_, at) => addDays(today, at + 1 - count))
}
