/**
 * What lanes have on chain, in one HTTP request to each endpoint: their balances, how many of their
 * transactions are mined, and what gas costs now. Counts only rise, so an endpoint that lags says too
 * little and the highest is the truth; one that invents transactions is not found out.
 */
import type { Address, Chain } from '../chain.ts'
import { quantitySchema } from '../hex.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import type { Fees } from './fees.ts'
import { feeHistoryCall, lowerMedian, medianFees, readFees, relayGas } from './fees.ts'
import type { BudgetedFees, GasConfig } from './gas-budget.ts'
import { maxFeePerGasOf, stoppingMaxFeePerGasOf, withinBudget } from './gas-budget.ts'
import { decodeSnapshot, encodeSnapshot, nativeCall, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcsFor } from './rpc.ts'

/** Transactions counted as of the latest, safe and finalized block; zero where there is no such tag. */
export type LaneState = {
  address: Address
  wei: bigint
  minedNonce: number
  safeNonce: number
  finalizedNonce: number
}

/** Lanes of one chain, what one relayed transfer costs there at worst, in wei, and when it last moved. */
export type LaneStates = BudgetedFees & {
  status: 'ok'
  lanes: LaneState[]
  relayedCostWei: bigint
  /** Of it, what a rollup charges for calldata. */
  dataFeeWei: bigint
  /** For a transaction that moves nothing. */
  stopping: BudgetedFees
  /** Unix seconds of the newest block that any endpoint has. */
  blockTimestampSeconds: bigint
}

/** What one endpoint says. */
type Seen = Fees & Pick<LaneStates, 'status' | 'lanes' | 'dataFeeWei' | 'blockTimestampSeconds'>

const tags = ['latest', 'safe', 'finalized'] as const

/** Reads them all; a lane of which nobody says everything is left out. */
export async function readLanes(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  addresses: readonly Address[],
): Promise<LaneStates | Unavailable> {
  const ask = (rpc: Rpc) => readFrom(rpc, chain, addresses)
  const seen = await Promise.all(rpcsFor(world, chain).map(ask))
  const [first, ...others] = seen.filter((one) => one.status === 'ok')
  if (!first) return seen.find((one) => 'log' in one) ?? unavailable('not connected')
  const lanes = first.lanes.map((lane) => {
    const same = others.flatMap((other) => other.lanes.filter((l) => l.address === lane.address))
    return same.reduce(furthest, lane)
  })
  const moved = seen.map((one) => (one.status === 'ok' ? one.blockTimestampSeconds : 0n))
  const blockTimestampSeconds = moved.reduce((one, other) => (one > other ? one : other))
  const suggested = medianFees([first, ...others]) ?? first
  const fees = withinBudget(suggested, maxFeePerGasOf(chain, world.config))
  const stopping = withinBudget(suggested, stoppingMaxFeePerGasOf(chain, world.config))
  const dataFeeWei = lowerMedian([first, ...others].map((one) => one.dataFeeWei)) ?? 0n
  const relayedCostWei = relayGas(chain.id, 1) * fees.maxFeePerGas + dataFeeWei
  const seenAt = { blockTimestampSeconds }
  return { status: 'ok', ...fees, stopping, lanes, relayedCostWei, dataFeeWei, ...seenAt }
}

function furthest(one: LaneState, other: LaneState): LaneState {
  return {
    ...one,
    minedNonce: Math.max(one.minedNonce, other.minedNonce),
    safeNonce: Math.max(one.safeNonce, other.safeNonce),
    finalizedNonce: Math.max(one.finalizedNonce, other.finalizedNonce),
  }
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
  const counts = addresses.flatMap((address) =>
    tags.map((tag) => ({ method: 'eth_getTransactionCount', params: [address, tag] })),
  )
  const [state, history, ...answers] = await rpc.batch([
    encodeSnapshot(chain, [...addresses.map(nativeCall), dataFeeCall]),
    feeHistoryCall,
    ...counts,
  ])
  const snapshot = decodeSnapshot(state)
  const fees = readFees(history)
  if (snapshot.status !== 'ok') return snapshot
  if ('log' in fees) return fees
  const lanes = addresses.flatMap((address, index) => {
    const wei = readWord(snapshot.results[index])
    const own = answers.slice(tags.length * index, tags.length * (index + 1))
    const [minedNonce, safeNonce = 0, finalizedNonce = 0] = own.map(countOf)
    if (wei === undefined || minedNonce === undefined) return []
    return [{ address, wei, minedNonce, safeNonce, finalizedNonce }]
  })
  const dataFeeWei = readDataFee(chain, snapshot.results[addresses.length])
  const { blockTimestampSeconds } = snapshot
  return { status: 'ok', ...fees, lanes, dataFeeWei, blockTimestampSeconds }
}

function countOf(answer: RpcAnswer): number | undefined {
  const read = readAnswer(answer, quantitySchema)
  return 'value' in read ? Number(read.value) : undefined
}
