/**
 * What earlier purchases of the same resource say about the next one: a merchant that suddenly wants
 * its money elsewhere, or far more or less of it, is asked about. Pure. A resource that was never
 * paid has no history and nothing to disagree with.
 */

/** Of the last settled payments of one resource; empty, and null, where there was none. */
export type History = {
  payees: readonly string[]
  assets: readonly { chain: number; token: string }[]
  lowestUsdMicros: bigint | null
  highestUsdMicros: bigint | null
}

/** How a payment disagrees with the history. */
export type MemoryReasonCode = 'changed_payee' | 'changed_asset' | 'unusual_price'

/** The part of a payment that history speaks about. */
export type Remembered = { payTo: string; chain: number; token: string; amountUsdMicros: bigint }

/** The history of what was never paid. */
export const noHistory: History = {
  payees: [],
  assets: [],
  lowestUsdMicros: null,
  highestUsdMicros: null,
}

/**
 * Prices are usual from half the lowest to twice the highest. A payee whom the owner named is not
 * a changed one.
 */
export function memoryReasons(
  history: History,
  { payTo, chain, token, amountUsdMicros }: Remembered,
  isPayeePinned: boolean,
): MemoryReasonCode[] {
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
