/**
 * Recent gas costs of a chain, as a quorum of endpoints reported them. They bound the report of a single
 * endpoint while the others are silent, because a relayer pays whatever tip is reported.
 */
import type { Fees } from './fees.ts'
import { suggest } from './fees.ts'

/** Third-highest costs by minute of the last hour, in wei; `callWei` is for a transaction with one call. */
export type RecentGasFees = {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  dataFeeWei: bigint
  callWei: bigint
}

/** Fees, and the most that a rollup charges for the bytes of one call. */
export type GasFees = Fees & { dataFeeWei: bigint }

/**
 * Returns the reported prices. Without a quorum they are bounded by `seen`: the base fee by its
 * `maxFeePerGas`, the tip by its tip, and the data fee by twice its data fee. Nothing bounds them if
 * nothing was seen.
 */
export function boundGasFees<Reported extends GasFees>(
  reported: Reported,
  isAgreed: boolean,
  seen: RecentGasFees | undefined,
): Reported {
  if (isAgreed || !seen) return reported
  const base = lesser(reported.baseFeePerGas, seen.maxFeePerGas)
  const tip = lesser(reported.maxPriorityFeePerGas, seen.maxPriorityFeePerGas)
  return {
    ...reported,
    ...suggest(base, tip),
    dataFeeWei: lesser(reported.dataFeeWei, 2n * seen.dataFeeWei),
  }
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
