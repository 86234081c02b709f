/**
 * Asks all endpoints of a chain for its newest block and what gas and calldata cost there, so that no
 * single one can say so alone. One that is slow delays nothing for more than a second and has no say.
 */
import type { Chain } from '../chain.ts'
import type { RpcAnswer } from './answer.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import type { Fees } from './fees.ts'
import { feeHistoryCall, lowerMedian, medianFees, readFees } from './fees.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcsFor } from './rpc.ts'

/** The newest block; fees in wei, `dataFeeWei` is what a rollup charges for a call's bytes. */
export type Head = Fees & {
  blockNumber: bigint
  /** Unix seconds. */
  blockTimestampSeconds: bigint
  dataFeeWei: bigint
}

const answerMilliseconds = 1_000

/**
 * Returns the lower median of each figure over the endpoints that answer at once. All are asked at the
 * same time; none where there is only one, which is asked along with everything else.
 */
export async function askHead(world: ChainWorld, chain: Chain): Promise<Head | undefined> {
  const rpcs = rpcsFor(world, chain)
  if (rpcs.length < 2) return undefined
  const calls = [feeHistoryCall, encodeSnapshot(chain, [dataFeeCall])]
  const limits = { timeoutMilliseconds: answerMilliseconds }
  const answers = await Promise.all(rpcs.map((rpc) => rpc.batch(calls, limits)))
  const heads = answers.flatMap((said) => readHead(chain, said))
  const fees = medianFees(heads)
  const blockNumber = lowerMedian(heads.map((head) => head.blockNumber))
  const blockTimestampSeconds = lowerMedian(heads.map((head) => head.blockTimestampSeconds))
  const dataFeeWei = lowerMedian(heads.map((head) => head.dataFeeWei))
  if (!fees || blockNumber === undefined) return undefined
  if (blockTimestampSeconds === undefined || dataFeeWei === undefined) return undefined
  return { ...fees, blockNumber, blockTimestampSeconds, dataFeeWei }
}

function readHead(chain: Chain, [history, state]: readonly RpcAnswer[]): Head[] {
  const fees = readFees(history)
  const snapshot = decodeSnapshot(state)
  if ('log' in fees || snapshot.status !== 'ok') return []
  const { blockNumber, blockTimestampSeconds, results } = snapshot
  const dataFeeWei = readDataFee(chain, readWord(results[0]))
  return [{ ...fees, blockNumber, blockTimestampSeconds, dataFeeWei }]
}
