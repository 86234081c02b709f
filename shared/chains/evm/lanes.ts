/**
 * What lanes have on chain, in one HTTP request to each endpoint: their balances, how many of their
 * transactions are mined, and what gas costs now. An endpoint that lags counts too few and one that lies
 * what it likes: what enough of them show has happened, what none shows has not.
 */
import type { Address, Chain } from '../chain.ts'
import type { Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { countCall, readCount } from './counts.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import { agreedCount, isEnough } from './enough.ts'
import { feeHistoryCall, lowerMedian, medianFees, readFees, relayGas, upperMedian } from './fees.ts'
import type { BudgetedFees, GasConfig } from './gas-budget.ts'
import { maxFeePerGasOf, stoppingMaxFeePerGasOf, withinBudget } from './gas-budget.ts'
import type { GasTold } from './gas-seen.ts'
import { decodeSnapshot, encodeSnapshot, nativeCall, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

/** How many transactions of a lane are mined, and what it holds. */
export type LaneState = {
  address: Address
  /** By the higher median of what they tell, so that no single one takes a lane for empty. */
  wei: bigint
  /** As much as enough endpoints tell, or more; undefined while not enough of them answer. */
  agreedWei: bigint | undefined
  /** Shown by enough endpoints to act on it; undefined while not enough of them answer. */
  agreedNonce: number | undefined
  /** The highest that any shows: it frees places in the lane, and nothing is sent or given up for it. */
  minedNonce: number
  /** As of the safe block, shown by enough endpoints; zero where there is no such tag. */
  safeNonce: number
}

/** What one relayed transfer costs at worst, in wei. */
export type LanePrices = BudgetedFees & {
  relayedCostWei: bigint
  /** Of it, what a rollup charges for calldata. */
  dataFeeWei: bigint
  /** For a transaction that moves nothing. */
  stopping: BudgetedFees
}

/** Lanes of one chain, what gas costs there, and when it last moved. */
export type LaneStates = LanePrices & {
  status: 'ok'
  lanes: LaneState[]
  told: GasTold
  /** Whether enough endpoints told what gas costs. */
  isAgreed: boolean
  /** Unix seconds of the newest block that any endpoint has. */
  blockTimestampSeconds: bigint
}

/** What one endpoint says of a lane. */
type SeenLane = { address: Address; wei: bigint; minedNonce: number; safeNonce: number }
/** What one endpoint says. */
type Seen = GasTold & Pick<LaneStates, 'status' | 'blockTimestampSeconds'> & { lanes: SeenLane[] }

const tags = ['latest', 'safe'] as const

/** Reads them all; a lane of which nobody says everything is left out. */
export async function readLanes(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  addresses: readonly Address[],
): Promise<LaneStates | Unavailable> {
  const told = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      return { operator, seen: await readFrom(rpc, chain, addresses) }
    }),
  )
  const known = told.flatMap(({ seen }) => (seen.status === 'ok' ? [seen] : []))
  const [first] = known
  if (!first) {
    const failure = told.map(({ seen }) => seen).find((one) => 'log' in one)
    return failure ?? unavailable('not connected')
  }
  const times = known.map((one) => one.blockTimestampSeconds)
  const blockTimestampSeconds = times.reduce((one, other) => (one > other ? one : other))
  const dataFeeWei = lowerMedian(known.map((one) => one.dataFeeWei)) ?? 0n
  const gas = { ...(medianFees(known) ?? first), dataFeeWei }
  const votes = told.map(({ operator, seen }) => ({ operator, agrees: seen.status === 'ok' }))
  const lanes = addresses.flatMap((address) => combine(address, told))
  const prices = priceLanes(world.config, chain, gas)
  const isAgreed = isEnough(votes)
  return { status: 'ok', ...prices, told: gas, isAgreed, lanes, blockTimestampSeconds }
}

/** What gas costs within what the operator pays for it. */
export function priceLanes(config: GasConfig, chain: Chain, told: GasTold): LanePrices {
  const { dataFeeWei } = told
  const fees = withinBudget(told, maxFeePerGasOf(chain, config))
  const stopping = withinBudget(told, stoppingMaxFeePerGasOf(chain, config))
  const relayedCostWei = relayGas(chain.id, 1) * fees.maxFeePerGas + dataFeeWei
  return { ...fees, stopping, relayedCostWei, dataFeeWei }
}

function combine(
  address: Address,
  told: readonly { operator: string; seen: Seen | Unavailable }[],
): LaneState[] {
  const views = told.map(({ operator, seen }) => {
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
  const minedNonce = Math.max(...known.map((lane) => lane.minedNonce))
  const agreedWei = agreedCount(views.map(({ operator, lane }) => ({ operator, count: lane?.wei })))
  return [{ address, wei, agreedWei, agreedNonce, minedNonce, safeNonce }]
}

/** As many lanes as fit into one reading beside what it asks of the block. */
const lanesPerRead = 60

/** One part after the other: what a part does not answer leaves out its lanes and no others. */
async function readFrom(
  rpc: Rpc,
  chain: Chain,
  addresses: readonly Address[],
): Promise<Seen | Unavailable> {
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
): Promise<Seen | Unavailable> {
  const counts = addresses.flatMap((address) => tags.map((tag) => countCall(address, tag)))
  // Counted first: what is mined meanwhile is then missing in what they hold, and not paid for twice.
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
