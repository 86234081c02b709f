/**
 * Lessons of earlier purchases of the same resource: if a merchant suddenly wants its money elsewhere, or
 * much more or less of it, somebody is asked. Pure. A resource that was never paid has no history to
 * disagree with.
 */

/** The last settled payments of one resource; empty and null if there are none. */
export type History = {
  payees: readonly string[]
  assets: readonly { chain: number; token: string }[]
  lowestUsdMicros: bigint | null
  highestUsdMicros: bigint | null
}

/** A way in which a payment disagrees with the history. */
export type HistoryReasonCode = 'changed_payee' | 'changed_asset' | 'unusual_price'

/** Part of a payment that is compared with the history. */
export type Remembered = { payTo: string; chain: number; token: string; amountUsdMicros: bigint }

/** The history of a resource that was never paid. */
export const noHistory: History = {
  payees: [],
  assets: [],
  lowestUsdMicros: null,
  highestUsdMicros: null,
}

/**
 * Returns how a payment disagrees with the history. Usual prices are from half the lowest to twice the
 * highest. A payee that the owner named is never a changed one.
 */
export function historyReasons(
  history: History,
  { payTo, chain, token, amountUsdMicros }: Remembered,
  isPayeePinned: boolean,
): HistoryReasonCode[] {
  const { payees, assets, lowestUsdMicros, highestUsdMicros } = history
  const isChangedPayee = payees.length > 0 && !payees.includes(payTo)
  const isKnownAsset = assets.some((asset) => asset.chain === chain && asset.token === token)
  const isLow = lowestUsdMicros !== null && amountUsdMicros * 2n < lowestUsdMicros
  const isHigh = highestUsdMicros !== null && amountUsdMicros > highestUsdMicros * 2n
  return [
    ...(isChangedPayee && !isPayeePinned ? (['changed_payee'] as const) : []),
    ...(assets.length > 0 && !isKnownAsset ? (['changed_asset'] as const) : []),
    ...(isLow || isHigh ? (['unusual_price'] as const) : []),
  ]
}
