/**
 * Lessons of earlier purchases of the same resource: if a merchant suddenly wants its money elsewhere, or
 * much more of it, somebody is asked. Pure. A resource that was never paid has no history to
 * disagree with.
 */

/** Payees and assets of the last settled payments of one resource; empty if there are none. */
export type PaidPlaces = {
  payees: readonly string[]
  assets: readonly { chain: number; token: string }[]
}

/** The last settled payments of one resource; empty and null if there are none. */
export type History = PaidPlaces & {
  highestUsdMicros: bigint | null
}

/** A change of where the money goes. */
export type ChangeReasonCode = 'changed_payee' | 'changed_asset'

/** A way in which a payment disagrees with the history. */
export type HistoryReasonCode = ChangeReasonCode | 'unusual_price'

/** Part of a payment that is compared with the history. */
export type Remembered = { payTo: string; chain: number; token: string; amountUsdMicros: bigint }

/** The history of a resource that was never paid. */
export const noHistory: History = {
  payees: [],
  assets: [],
  highestUsdMicros: null,
}

/** Returns how a payment disagrees with the history; a price does if it is more than twice the highest. */
export function historyReasons(history: History, payment: Remembered): HistoryReasonCode[] {
  const { highestUsdMicros } = history
  const isHigh = highestUsdMicros !== null && payment.amountUsdMicros > highestUsdMicros * 2n
  return [...changeReasons(history, payment), ...(isHigh ? (['unusual_price'] as const) : [])]
}

/** Returns what a payment changes of earlier ones, whatever it costs. */
export function changeReasons(
  { payees, assets }: PaidPlaces,
  { payTo, chain, token }: Omit<Remembered, 'amountUsdMicros'>,
): ChangeReasonCode[] {
  const isChangedPayee = payees.length > 0 && !payees.includes(payTo)
  const isKnownAsset = assets.some((asset) => asset.chain === chain && asset.token === token)
  return [
    ...(isChangedPayee ? (['changed_payee'] as const) : []),
    ...(assets.length > 0 && !isKnownAsset ? (['changed_asset'] as const) : []),
  ]
}
