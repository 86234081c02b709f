/**
 * Reads the on-chain state of lanes, with one batch for every 60 lanes to each endpoint: balances, nonces
 * and the price of gas. An endpoint may lag and count too few transactions, or lie. A transaction counts as
 * mined once a quorum shows it, and as not mined only if no endpoint shows it.
 */
import type { Address, Chain } from '../chain.ts'
import { readWord } from '../hex.ts'
import {
  type BudgetedFees,
  dataFeeCall,
  emptyMaxFeePerGasOf,
  feeHistoryCall,
  type GasConfig,
  type GasFees,
  lowerMedian,
  maxFeePerGasOf,
  medianFees,
  readDataFee,
  readFees,
  relayGas,
  upperMedian,
  withinBudget,
} from './gas.ts'
import { agreedCount } from './quorum/enough.ts'
import { type Unavailable, unavailable } from './rpc/endpoints.ts'
import { decodeSnapshot, encodeSnapshot, nativeCall } from './rpc/multicall.ts'
import { countCall, readCount } from './rpc/reads.ts'
import { type ChainWorld, endpointsFor, type Rpc } from './rpc/rpc.ts'

/** State of a lane: its balance and the number of its mined transactions. */
export type LaneState = {
  address: Address
  /** Higher median of the reported balances, so that no single endpoint makes a lane look empty. */
  wei: bigint
  /** Nonce at the latest block that a quorum shows; undefined while too few endpoints answer. */
  agreedNonce: number | undefined
  /** Higher median of the nonces: what the lane can take now follows it. */
  minedNonce: number
  /** Highest nonce that any endpoint shows. Its transactions are looked for, but nothing is given up. */
  highestNonce: number
  /** Nonce at the safe block that a quorum shows; zero if there is no such tag. */
  safeNonce: number
}

/** State of a chain's lanes, the price of gas, and the time of the newest block. */
export type LaneStates = BudgetedFees & {
  status: 'ok'
  lanes: LaneState[]
  /** Cost in wei of one relayed transfer in the worst case. */
  relayedCostWei: bigint
  /** Part of that cost that a rollup charges for calldata. */
  dataFeeWei: bigint
  /** Fees for a transaction that only uses up its nonce. */
  empty: BudgetedFees
  /** Unix seconds of the newest block that any endpoint has. */
  blockTimestampSeconds: bigint
}

/** State of a lane at one endpoint. */
type EndpointLane = { address: Address; wei: bigint; minedNonce: number; safeNonce: number }
/** Answer of one endpoint. */
type EndpointLanes = GasFees &
  Pick<LaneStates, 'status' | 'blockTimestampSeconds'> & { lanes: EndpointLane[] }

const tags = ['latest', 'safe'] as const

/** Reads all lanes. A lane is left out if no endpoint reports all of its state. */
export async function readLanes(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  addresses: readonly Address[],
): Promise<LaneStates | Unavailable> {
  const reports = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      return { operator, seen: await readFrom(rpc, chain, addresses) }
    }),
  )
  const known = reports.flatMap(({ seen }) => (seen.status === 'ok' ? [seen] : []))
  const [first] = known
  if (!first) {
    const failure = reports.map(({ seen }) => seen).find((one) => 'log' in one)
    return failure ?? unavailable('not connected')
  }
  const times = known.map((one) => one.blockTimestampSeconds)
  const blockTimestampSeconds = times.reduce((one, other) => (one > other ? one : other))
  const dataFeeWei = lowerMedian(known.map((one) => one.dataFeeWei)) ?? 0n
  const gas = { ...(medianFees(known) ?? first), dataFeeWei }
  const lanes = addresses.flatMap((address) => combine(address, reports))
  const fees = withinBudget(gas, maxFeePerGasOf(chain, world.config))
  const empty = withinBudget(gas, emptyMaxFeePerGasOf(chain, world.config))
  const relayedCostWei = relayGas(chain.id, 1) * fees.maxFeePerGas + dataFeeWei
  return { status: 'ok', ...fees, empty, relayedCostWei, dataFeeWei, lanes, blockTimestampSeconds }
}

function combine(
  address: Address,
  reports: readonly { operator: string; seen: EndpointLanes | Unavailable }[],
): LaneState[] {
  const views = reports.map(({ operator, seen }) => {
    const lanes = seen.status === 'ok' ? seen.lanes : []
    return { operator, lane: lanes.find((lane) => lane.address === address) }
  })
  const known = views.flatMap(({ lane }) => lane ?? [])
  const wei = upperMedian(known.map((lane) => lane.wei))
  if (wei === undefined) return []
  const agreed = (count: 'minedNonce' | 'safeNonce') =>
    agreedCount(views.map(({ operator, lane }) => ({ operator, count: lane?.[count] })))
  const agreedNonce = agreed('minedNonce')
  const safeNonce = agreed('safeNonce') ?? 0
  const nonces = known.map((lane) => lane.minedNonce)
  const minedNonce = upperMedian(nonces) ?? 0
  const highestNonce = Math.max(...nonces)
  return [{ address, wei, agreedNonce, minedNonce, highestNonce, safeNonce }]
}

/** Number of lanes that fit into one snapshot beside the calls that read the block. */
const lanesPerRead = 60

/** Reads the lanes part by part. A later part without an answer leaves out only its own lanes. */
async function readFrom(
  rpc: Rpc,
  chain: Chain,
  addresses: readonly Address[],
): Promise<EndpointLanes | Unavailable> {
  const first = await readPart(rpc, chain, addresses.slice(0, lanesPerRead))
  if (first.status !== 'ok') return first
  const lanes = [...first.lanes]
  for (let start = lanesPerRead; start < addresses.length; start += lanesPerRead) {
    const part = await readPart(rpc, chain, addresses.slice(start, start + lanesPerRead))
    if (part.status === 'ok') lanes.push(...part.lanes)
  }
  return { ...first, lanes }
}

async function readPart(
  rpc: Rpc,
  chain: Chain,
  addresses: readonly Address[],
): Promise<EndpointLanes | Unavailable> {
  const counts = addresses.flatMap((address) => tags.map((tag) => countCall(address, tag)))
  // Nonces are read first: the cost of a transaction mined in between then never counts as available.
  const answers = await rpc.batch([
    ...counts,
    encodeSnapshot(chain, [...addresses.map(nativeCall), dataFeeCall]),
    feeHistoryCall,
  ])
  const [state, history] = answers.slice(counts.length)
  const snapshot = decodeSnapshot(state, addresses.length + 1)
  const fees = readFees(history)
  if (snapshot.status !== 'ok') return snapshot
  if ('log' in fees) return fees
  const lanes = addresses.flatMap((address, index) => {
    const wei = readWord(snapshot.results[index])
    const own = answers.slice(tags.length * index, tags.length * (index + 1))
    const [minedNonce, safeNonce = 0] = own.map(readCount)
    if (wei === undefined || minedNonce === undefined) return []
    return [{ address, wei, minedNonce, safeNonce }]
  })
  const dataFeeWei = readDataFee(chain, readWord(snapshot.results[addresses.length]))
  const { blockTimestampSeconds } = snapshot
  return { status: 'ok', ...fees, lanes, dataFeeWei, blockTimestampSeconds }
}
