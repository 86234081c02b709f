/**
 * What a rollup of the OP Stack charges for the bytes of a transaction beside its gas, as its own
 * contract bounds it.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Chain } from '../chain.ts'
import { rollupAbi } from './abi.ts'
import type { Inner } from './multicall.ts'
import { gasPriceOracleAddress } from './places.ts'

// An unsigned transferWithAuthorization has about 450 bytes; a rollup charges for all of them.
const transactionBytesMax = 600n

/** Asks a rollup's contract what the bytes of one relayed call cost at most. */
export const dataFeeCall: Inner = {
  target: gasPriceOracleAddress,
  callData: encodeFunctionData({
    abi: rollupAbi,
    functionName: 'getL1FeeUpperBound',
    args: [transactionBytesMax],
  }),
}

/** Reads its answer. Only rollups of the OP Stack have this contract; elsewhere nobody charges. */
export function readDataFee({ stack }: Chain, word: bigint | undefined): bigint {
  return (stack === 'op' ? word : undefined) ?? 0n
}
