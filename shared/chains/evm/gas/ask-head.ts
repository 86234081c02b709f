/**
 * Asks all endpoints of a chain for its newest block and the price of gas and calldata there, so that no
 * single endpoint decides it. A slow endpoint delays the result by at most one second and is then ignored.
 */

import type { Address, Chain } from '../../chain.ts'
import { readWord } from '../../hex.ts'
import { agreedCount } from '../quorum/enough.ts'
import type { RpcAnswer, RpcCall } from '../rpc/answer.ts'
import { countCall, readCount } from '../rpc/counts.ts'
import { decodeSnapshot, encodeSnapshot, nativeCall } from '../rpc/multicall.ts'
import type { ChainWorld } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import type { GasFees } from './fees.ts'
import { feeHistoryCall, lowerMedian, medianFees, readFees, upperMedian } from './fees.ts'

/** Newest block and its prices. Fees are in wei; `dataFeeWei` is a rollup's charge for a call's bytes. */
export type Head = GasFees & {
  /** Unix seconds. */
  blockTimestampSeconds: bigint
}

/** Combined answers of the endpoints. `head` is undefined if no endpoint reports all of it. */
export type CombinedHead = {
  head: Head | undefined
  /** The newest block that a quorum has; undefined if too few endpoints report it in time. */
  blockNumber: number | undefined
  /** The wallet's next nonce as a quorum shows it; zero without a quorum. */
  walletNonce: number
  lanes: LaneHolding[]
}

/**
 * Balance of a relayer, and the number of its transactions in the state of the latest block: the higher median
 * of each. They only bound what the relayer can take now.
 */
export type LaneHolding = { address: Address; wei: bigint; minedNonce: number }

const answerMilliseconds = 1_000

/**
 * Returns the lower median of each figure over the endpoints that answer in time, the wallet's next nonce
 * if a wallet is named, and the balances of the lanes. All endpoints are asked in parallel. Returns
 * undefined if the chain has fewer than two; a single endpoint is asked together with everything else.
 */
export async function askHead(
  world: ChainWorld,
  chain: Chain,
  { wallet, lanes = [] }: { wallet?: Address; lanes?: readonly Address[] } = {},
): Promise<CombinedHead | undefined> {
  const endpoints = endpointsFor(world, chain)
  if (endpoints.length < 2) return undefined
  const counts = wallet === undefined ? [] : [countCall(wallet, 'pending')]
  counts.push(...lanes.map((lane) => countCall(lane, 'latest')))
  const calls = [...headCallsOf(chain, lanes), ...counts]
  const limits = { timeoutMilliseconds: answerMilliseconds }
  const said = await Promise.all(
    endpoints.map(async ({ operator, rpc }) => {
      const answers = await rpc.batch(calls, limits)
      const laneCounts = lanes.map((_, at) => readCount(answers[3 + at]))
      const walletNonce = readCount(answers[2])
      return { operator, walletNonce, laneCounts, ...readHead(chain, answers, lanes.length) }
    }),
  )
  return {
    head: medianHead(said.flatMap(({ head }) => head ?? [])),
    blockNumber: agreedCount(said.map((one) => ({ ...one, count: one.blockNumber }))),
    walletNonce: agreedCount(said.map((one) => ({ ...one, count: one.walletNonce }))) ?? 0,
    lanes: lanes.flatMap((address, at) =>
      holdingOf(
        address,
        said.flatMap(({ lanesWei }) => lanesWei?.[at] ?? []),
        said.flatMap(({ laneCounts }) => laneCounts[at] ?? []),
      ),
    ),
  }
}

/** Combines what endpoints report of a lane. It is left out if all lack its balance or all its nonce. */
export function holdingOf(
  address: Address,
  wei: readonly bigint[],
  counts: readonly number[],
): LaneHolding[] {
  const [held, minedNonce] = [upperMedian(wei), upperMedian(counts)]
  if (held === undefined || minedNonce === undefined) return []
  return [{ address, wei: held, minedNonce }]
}

/** Returns the calls that ask one endpoint for the head and the balances of these lanes. */
export function headCallsOf(chain: Chain, lanes: readonly Address[] = []): RpcCall[] {
  return [feeHistoryCall, encodeSnapshot(chain, [dataFeeCall, ...lanes.map(nativeCall)])]
}

function medianHead(heads: readonly Head[]): Head | undefined {
  const fees = medianFees(heads)
  const blockTimestampSeconds = lowerMedian(heads.map((head) => head.blockTimestampSeconds))
  const dataFeeWei = lowerMedian(heads.map((head) => head.dataFeeWei))
  if (!fees || blockTimestampSeconds === undefined || dataFeeWei === undefined) return undefined
  return { ...fees, blockTimestampSeconds, dataFeeWei }
}

/** Reads the answers to `headCallsOf` for this number of lanes. Returns undefined if one is missing. */
export function readHead(
  chain: Chain,
  [history, state]: readonly RpcAnswer[],
  lanes = 0,
): { head: Head; blockNumber: number; lanesWei: (bigint | undefined)[] } | undefined {
  const fees = readFees(history)
  const snapshot = decodeSnapshot(state, 1 + lanes)
  if ('log' in fees || snapshot.status !== 'ok') return undefined
  const { blockNumber, blockTimestampSeconds, results } = snapshot
  const dataFeeWei = readDataFee(chain, readWord(results[0]))
  const head = { ...fees, blockTimestampSeconds, dataFeeWei }
  return { head, blockNumber: Number(blockNumber), lanesWei: results.slice(1).map(readWord) }
}
