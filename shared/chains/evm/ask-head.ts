/**
 * Asks all endpoints of a chain for its newest block and what gas and calldata cost there, so that no
 * single one can say so alone. One that is slow delays nothing for more than a second and has no say.
 */
import type { Address, Chain } from '../chain.ts'
import type { RpcAnswer, RpcCall } from './answer.ts'
import { countCall, readCount } from './counts.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import { agreedCount, isEnough } from './enough.ts'
import { feeHistoryCall, lowerMedian, medianFees, readFees, upperMedian } from './fees.ts'
import type { GasTold } from './gas-seen.ts'
import { decodeSnapshot, encodeSnapshot, nativeCall, readWord } from './multicall.ts'
import type { ChainWorld } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

/** Of the newest block; fees in wei, `dataFeeWei` is what a rollup charges for a call's bytes. */
export type Head = GasTold & {
  /** Unix seconds. */
  blockTimestampSeconds: bigint
}

/** What the endpoints say together; `head` is undefined while none tells all of it. */
export type Together = {
  head: Head | undefined
  /** Whether enough of them tell it. */
  isAgreed: boolean
  /** The newest block that enough of them have; undefined while too few tell it in time. */
  blockNumber: number | undefined
  /** The wallet's next transaction number as far as enough of them show it; zero where they do not. */
  walletNonce: number
  lanes: LaneHolding[]
}

/**
 * What a relayer holds, and how many of its transactions are in the latest block's state: the highest count
 * that any endpoint tells, which says no more than what the relayer can take now.
 */
export type LaneHolding = { address: Address; wei: bigint; minedNonce: number }

const answerMilliseconds = 1_000

/**
 * Returns the lower median of each figure over the endpoints that answer at once, the number of the
 * wallet's next transaction where a wallet is named, and what lanes have. All are asked at the same time;
 * none where there is only one, which is asked along with everything else.
 */
export async function askHead(
  world: ChainWorld,
  chain: Chain,
  { wallet, lanes = [] }: { wallet?: Address; lanes?: readonly Address[] } = {},
): Promise<Together | undefined> {
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
    isAgreed: isEnough(
      said.map(({ operator, head }) => ({ operator, agrees: head !== undefined })),
    ),
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

/** What a lane has by the words of several; one of which nobody says all is left out. */
export function holdingOf(
  address: Address,
  wei: readonly bigint[],
  counts: readonly number[],
): LaneHolding[] {
  const held = upperMedian(wei)
  if (held === undefined || counts.length === 0) return []
  return [{ address, wei: held, minedNonce: Math.max(...counts) }]
}

/** Asks one endpoint for it. */
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

/** Reads the answers to `headCallsOf` with so many lanes; nothing where one is missing. */
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
