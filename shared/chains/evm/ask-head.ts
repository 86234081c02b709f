/**
 * Asks all endpoints of a chain for its newest block and what gas and calldata cost there, so that no
 * single one can say so alone. One that is slow delays nothing for more than a second and has no say.
 */
import type { Address, Chain } from '../chain.ts'
import type { RpcAnswer, RpcCall } from './answer.ts'
import { countCall, readCount } from './counts.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import { agreedCount } from './enough.ts'
import type { Fees } from './fees.ts'
import { feeHistoryCall, lowerMedian, medianFees, readFees } from './fees.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

/** Of the newest block; fees in wei, `dataFeeWei` is what a rollup charges for a call's bytes. */
export type Head = Fees & {
  /** Unix seconds. */
  blockTimestampSeconds: bigint
  dataFeeWei: bigint
}

/** What the endpoints say together; `head` is undefined while none tells all of it. */
export type Together = {
  head: Head | undefined
  /** The newest block that enough of them have; undefined while too few tell it in time. */
  blockNumber: number | undefined
  /** The wallet's next transaction number as far as enough of them show it; zero where they do not. */
  walletNonce: number
}

const answerMilliseconds = 1_000

/**
 * Returns the lower median of each figure over the endpoints that answer at once, and the number of the
 * wallet's next transaction where a wallet is named. All are asked at the same time; none where there is
 * only one, which is asked along with everything else.
 */
export async function askHead(
  world: ChainWorld,
  chain: Chain,
  wallet?: Address,
): Promise<Together | undefined> {
  const endpoints = endpointsFor(world, chain)
  if (endpoints.length < 2) return undefined
  const counts = wallet === undefined ? [] : [countCall(wallet, 'pending')]
  const calls = [...headCallsOf(chain), ...counts]
  const limits = { timeoutMilliseconds: answerMilliseconds }
  const said = await Promise.all(
    endpoints.map(async ({ operator, rpc }) => {
      const answers = await rpc.batch(calls, limits)
      return { operator, walletNonce: readCount(answers[2]), ...readHead(chain, answers) }
    }),
  )
  return {
    head: medianHead(said.flatMap(({ head }) => head ?? [])),
    blockNumber: agreedCount(said.map((one) => ({ ...one, count: one.blockNumber }))),
    walletNonce: agreedCount(said.map((one) => ({ ...one, count: one.walletNonce }))) ?? 0,
  }
}

/** Asks one endpoint for it. */
export function headCallsOf(chain: Chain): RpcCall[] {
  return [feeHistoryCall, encodeSnapshot(chain, [dataFeeCall])]
}

function medianHead(heads: readonly Head[]): Head | undefined {
  const fees = medianFees(heads)
  const blockTimestampSeconds = lowerMedian(heads.map((head) => head.blockTimestampSeconds))
  const dataFeeWei = lowerMedian(heads.map((head) => head.dataFeeWei))
  if (!fees || blockTimestampSeconds === undefined || dataFeeWei === undefined) return undefined
  return { ...fees, blockTimestampSeconds, dataFeeWei }
}

/** Reads the answers to `headCallsOf`; nothing where one is missing. */
export function readHead(
  chain: Chain,
  [history, state]: readonly RpcAnswer[],
): { head: Head; blockNumber: number } | undefined {
  const fees = readFees(history)
  const snapshot = decodeSnapshot(state)
  if ('log' in fees || snapshot.status !== 'ok') return undefined
  const { blockNumber, blockTimestampSeconds, results } = snapshot
  const dataFeeWei = readDataFee(chain, readWord(results[0]))
  const head = { ...fees, blockTimestampSeconds, dataFeeWei }
  return { head, blockNumber: Number(blockNumber) }
}
