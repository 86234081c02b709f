/**
 * What fills the windows of an exposure beside the limits: mandates, of which each has something left
 * in all and something of each day, and approved payments, which can be paid once and until they
 * expire. Pure.
 */
import type { Approved, Bound, ExposedMandate } from './exposure-facts.ts'

/** 24 hours, what the caps leave in them beside the limits, and the largest payment that may fit. */
export type Window = {
  begin: number
  end: number
  beside: bigint
  largest: bigint
}

/** So much in all and in each window at most, in micro-USD; null where only other caps end it. */
export type Source = { bound: Bound; inAll: bigint | null; perWindow: readonly (bigint | null)[] }

/** Beyond so many the rest are taken as one, which can only make the figure larger. */
const sourcesMax = 64

/**
 * The mandates that the key may use. What is open under one leaves now, or it
 * is released and the mandate pays as much later, so that other payments fit into the first window.
 */
export function mandateSources(
  mandates: readonly ExposedMandate[],
  windows: readonly Window[],
  paymentCap: bigint | null,
): Source[] {
  const sources = mandates.map((mandate) => ({
    bound: 'mandate_limits' as const,
    inAll: plus(inAllOf(mandate, paymentCap), mandate.openUsdMicros),
    perWindow: windows.map((window, at) => {
      const left = dayOf(mandate, window)
      return at === 0 ? plus(left, mandate.openUsdMicros) : left
    }),
  }))
  const few = sources.slice(0, sourcesMax)
  const rest = sources.slice(sourcesMax)
  return rest.length === 0 ? few : [...few, asOne(rest, windows)]
}

function asOne(sources: readonly Source[], windows: readonly Window[]): Source {
  return {
    bound: 'mandate_limits',
    inAll: sumOf(sources.map(({ inAll }) => inAll)),
    perWindow: windows.map((_, at) => sumOf(sources.map(({ perWindow }) => perWindow[at] ?? null))),
  }
}

/** The approved payments, those together that fit into the same windows before they expire. */
export function approvedSources(
  approved: readonly Approved[],
  windows: readonly Window[],
): Source[] {
  const byWindows = new Map<string, Source & { inAll: bigint }>()
  for (const one of approved) {
    const perWindow = windows.map((window) => (isPayableIn(one, window) ? null : 0n))
    const before = byWindows.get(perWindow.join())
    const inAll = (before?.inAll ?? 0n) + one.usdMicros
    byWindows.set(perWindow.join(), { bound: 'approved_payments', inAll, perWindow })
  }
  return [...byWindows.values()]
}

/** Whether an approved payment may be paid in a window. */
function isPayableIn(
  { eachUsdMicros, expiresInMinutes }: Approved,
  { largest, begin }: Window,
): boolean {
  return eachUsdMicros <= largest && expiresInMinutes > begin
}

/** What a mandate's day lets through in a window; null where it has no such cap. */
function dayOf(
  { expiresInMinutes, maxDayUsdMicros, leaving }: ExposedMandate,
  { begin, end }: Window,
): bigint | null {
  if (expiresInMinutes <= 0 || expiresInMinutes <= begin) return 0n
  if (maxDayUsdMicros === null) return null
  const last = Math.min(end, expiresInMinutes)
  const counted = leaving.filter(({ minutes }) => minutes >= last)
  const left = counted.reduce((room, { usdMicros }) => room - usdMicros, maxDayUsdMicros)
  return left > 0n ? left : 0n
}

/** What a mandate lets through in all; null where only caps beside it end it. */
function inAllOf(mandate: ExposedMandate, paymentCap: bigint | null): bigint | null {
  const { maxPaymentUsdMicros, leftTotalUsdMicros, leftPayments, regainedUsdMicros } = mandate
  if (leftPayments === null) return leftTotalUsdMicros
  const isCapped = paymentCap !== null && paymentCap < maxPaymentUsdMicros
  const each = isCapped ? paymentCap : maxPaymentUsdMicros
  const byCount = BigInt(leftPayments) * each + regainedUsdMicros
  return leftTotalUsdMicros !== null && leftTotalUsdMicros < byCount ? leftTotalUsdMicros : byCount
}

const plus = (value: bigint | null, more: bigint) => (value === null ? null : value + more)

/** What flows, and which windows hold no more. */
type Flow = { usdMicros: bigint; isFull: readonly boolean[] }

/**
 * The most that the sources bring into what the windows have left beside the limits. It is the least
 * of all cuts (Ford and Fulkerson): some windows are full, and into the others each source brings what
 * it has. There are seven windows in a week, so 128 cuts.
 */
export function flowInto(windows: readonly Window[], sources: readonly Source[]): Flow {
  let least: Flow | undefined
  for (let cut = 2 ** windows.length - 1; cut >= 0; cut -= 1) {
    const isFull = windows.map((_, at) => ((cut >> at) & 1) === 1)
    const full = windows.filter((_, at) => isFull[at]).map(({ beside }) => beside)
    const usdMicros = sumOf([...full, ...sources.map((source) => broughtBy(source, isFull))])
    if (usdMicros === null || (least && usdMicros >= least.usdMicros)) continue
    least = { usdMicros, isFull }
  }
  return least ?? { usdMicros: 0n, isFull: [] }
}

/** What one source brings into the windows that are not full. */
function broughtBy({ inAll, perWindow }: Source, isFull: readonly boolean[]): bigint | null {
  const brought = sumOf(perWindow.filter((_, at) => !isFull[at]))
  return inAll === null || (brought !== null && brought < inAll) ? brought : inAll
}

/** Null where one has no end. */
function sumOf(values: readonly (bigint | null)[]): bigint | null {
  let sum = 0n
  for (const value of values) {
    if (value === null) return null
    sum += value
  }
  return sum
}
