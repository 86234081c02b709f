/**
 * Sources that fill the windows of an exposure besides the limits: mandates, each with a remaining total
 * and a remaining amount for each day; and approved payments, which can be paid once and until they expire.
 * Pure.
 */
import type { Approved, Bound, ExposedMandate } from './exposure-facts.ts'

/** 24 hours: the room that the caps leave besides the limits, and the largest payment that may fit. */
export type Window = {
  begin: number
  end: number
  beside: bigint
  largest: bigint
}

/** Maximum in total and in each window, in micro-USD; null if only other caps limit it. */
export type Source = { bound: Bound; inAll: bigint | null; perWindow: readonly (bigint | null)[] }

/** Maximum number of sources; the rest are merged into one, which can only make the exposure larger. */
const sourcesMax = 64

/**
 * Returns the mandates that the key may use. An open payment under one leaves now; or it is released and
 * the mandate pays as much later, so that other payments fit into the first window.
 */
export function mandateSources(
  mandates: readonly ExposedMandate[],
  windows: readonly Window[],
  paymentCap: bigint | null,
): Source[] {
  const sources = mandates.map((mandate) => ({
    bound: 'mandate_limits' as const,
    inAll: plus(maxTotalOf(mandate, paymentCap), mandate.openUsdMicros),
    perWindow: windows.map((window, at) => {
      const left = maxInWindowOf(mandate, window)
      return at === 0 ? plus(left, mandate.openUsdMicros) : left
    }),
  }))
  const few = sources.slice(0, sourcesMax)
  const rest = sources.slice(sourcesMax)
  return rest.length === 0 ? few : [...few, mergeSources(rest, windows)]
}

function mergeSources(sources: readonly Source[], windows: readonly Window[]): Source {
  return {
    bound: 'mandate_limits',
    inAll: sumOf(sources.map(({ inAll }) => inAll)),
    perWindow: windows.map((_, at) => sumOf(sources.map(({ perWindow }) => perWindow[at] ?? null))),
  }
}

/** Returns the approved payments, merged if they fit into the same windows before they expire. */
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

/** True if an approved payment may be paid in a window. */
function isPayableIn(
  { eachUsdMicros, expiresInMinutes }: Approved,
  { largest, begin }: Window,
): boolean {
  return eachUsdMicros <= largest && expiresInMinutes > begin
}

/** Returns what a mandate's day cap allows in a window; null if it has no such cap. */
function maxInWindowOf(
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

/** Returns what a mandate allows in total; null if only other caps limit it. */
function maxTotalOf(mandate: ExposedMandate, paymentCap: bigint | null): bigint | null {
  const { maxPaymentUsdMicros, leftTotalUsdMicros, leftPayments, regainedUsdMicros } = mandate
  if (leftPayments === null) return leftTotalUsdMicros
  const isCapped = paymentCap !== null && paymentCap < maxPaymentUsdMicros
  const each = isCapped ? paymentCap : maxPaymentUsdMicros
  const byCount = BigInt(leftPayments) * each + regainedUsdMicros
  return leftTotalUsdMicros !== null && leftTotalUsdMicros < byCount ? leftTotalUsdMicros : byCount
}

const plus = (value: bigint | null, more: bigint) => (value === null ? null : value + more)

/** Amount of the flow, and the windows that it fills. */
type Flow = { usdMicros: bigint; isFull: readonly boolean[] }

/**
 * Returns the most that the sources can bring into the room that the windows have besides the limits. It is
 * the minimum cut (Ford and Fulkerson): some windows are full, and each source brings what it has into the
 * others. A week has seven windows, so there are 128 cuts.
 */
export function flowInto(windows: readonly Window[], sources: readonly Source[]): Flow {
  let least: Flow | undefined
  for (let cut = 2 ** windows.length - 1; cut >= 0; cut -= 1) {
    const isFull = windows.map((_, at) => ((cut >> at) & 1) === 1)
    const full = windows.filter((_, at) => isFull[at]).map(({ beside }) => beside)
    const usdMicros = sumOf([...full, ...sources.map((source) => supplyOf(source, isFull))])
    if (usdMicros === null || (least && usdMicros >= least.usdMicros)) continue
    least = { usdMicros, isFull }
  }
  return least ?? { usdMicros: 0n, isFull: [] }
}

/** Returns what one source brings into the windows that are not full. */
function supplyOf({ inAll, perWindow }: Source, isFull: readonly boolean[]): bigint | null {
  const brought = sumOf(perWindow.filter((_, at) => !isFull[at]))
  return inAll === null || (brought !== null && brought < inAll) ? brought : inAll
}

/** Adds values; null if one of them is unlimited. */
function sumOf(values: readonly (bigint | null)[]): bigint | null {
  let sum = 0n
  for (const value of values) {
    if (value === null) return null
    sum += value
  }
  return sum
}
