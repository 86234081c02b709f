/**
 * Reads the fee that an OP Stack rollup charges for a transaction's bytes in addition to gas. The rollup's
 * own contract gives an upper bound.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Chain } from '../../chain.ts'
import { rollupAbi } from '../abi.ts'
import type { InnerCall } from '../rpc/multicall.ts'
import { gasPriceOracleAddress } from '../rpc/places.ts'

// An unsigned transferWithAuthorization has about 450 bytes; a rollup charges for all of them.
const transactionBytesMax = 600n

/** Inner call that asks the rollup's contract for the most that the bytes of one relayed call cost. */
export const dataFeeCall: InnerCall = {
  target: gasPriceOracleAddress,
  callData: encodeFunctionData({
    abi: rollupAbi,
    functionName: 'getL1FeeUpperBound',
    args: [transactionBytesMax],
  }),
}

/** Reads the answer. Only OP Stack rollups have this contract; on other chains the fee is zero. */
export function readDataFee({ stack }: Chain, word: bigint | undefined): bigint {
  return (stack === 'op' ? word : undefined) ?? 0n
}
