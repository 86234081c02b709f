/**
 * What gas cost on a chain lately, as enough endpoints told it together. It bounds what one of them tells
 * while the others are silent: relayers pay the tip that is told, whatever blocks take.
 */
import type { Fees } from './fees.ts'
import { suggest } from './fees.ts'

/** The dearest of the last hour but for two minutes, in wei; `callWei` is of a relayer's transaction with one call. */
export type GasSeen = {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  dataFeeWei: bigint
  callWei: bigint
}

/** Fees, and what a rollup charges for the bytes of one call at most. */
export type GasTold = Fees & { dataFeeWei: bigint }

/**
 * Returns what was told, of what one endpoint tells alone no more than this: the tip that blocks took
 * lately, and twice of what they charged. Nothing bounds it where nothing was seen.
 */
export function believedGas<Told extends GasTold>(
  told: Told,
  isAgreed: boolean,
  seen: GasSeen | undefined,
): Told {
  if (isAgreed || !seen) return told
  const base = lesser(told.baseFeePerGas, seen.maxFeePerGas)
  const tip = lesser(told.maxPriorityFeePerGas, seen.maxPriorityFeePerGas)
  return {
    ...told,
    ...suggest(base, tip),
    dataFeeWei: lesser(told.dataFeeWei, 2n * seen.dataFeeWei),
  }
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
