/**
 * Reads the on-chain state of gas payers, with one batch for every 60 of them to each endpoint: balances, nonces
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

/** State of a gas payer: its balance and the number of its mined transactions. */
export type GasPayerState = {
  address: Address
  /** Higher median of the reported balances, so that no single endpoint makes a gas payer look empty. */
  wei: bigint
  /** Nonce at the latest block that a quorum shows; undefined while too few endpoints answer. */
  agreedNonce: number | undefined
  /** Higher median of the nonces: what the gas payer can take now follows it. */
  minedNonce: number
  /** Highest nonce that any endpoint shows. Its transactions are looked for, but nothing is given up. */
  highestNonce: number
  /** Nonce at the safe block that a quorum shows; zero if there is no such tag. */
  safeNonce: number
}

/** State of a chain's gas payers, the price of gas, and the time of the newest block. */
export type GasPayerStates = BudgetedFees & {
  status: 'ok'
  gasPayers: GasPayerState[]
  /** Cost in wei of one relayed transfer in the worst case. */
  relayedCostWei: bigint
  /** Part of that cost that a rollup charges for calldata. */
  dataFeeWei: bigint
  /** Fees for a transaction that only uses up its nonce. */
  empty: BudgetedFees
  /** Unix seconds of the newest block that any endpoint has. */
  blockTimestampSeconds: bigint
}

/** State of a gas payer at one endpoint. */
type EndpointGasPayer = { address: Address; wei: bigint; minedNonce: number; safeNonce: number }
/** Answer of one endpoint. */
type EndpointGasPayers = GasFees &
  Pick<GasPayerStates, 'status' | 'blockTimestampSeconds'> & { gasPayers: EndpointGasPayer[] }

const tags = ['latest', 'safe'] as const

/** Reads all gas payers. One is left out if no endpoint reports all of its state. */
export async function readGasPayers(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  addresses: readonly Address[],
): Promise<GasPayerStates | Unavailable> {
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
  const gasPayers = addresses.flatMap((address) => combine(address, reports))
  const fees = withinBudget(gas, maxFeePerGasOf(chain, world.config))
  const empty = withinBudget(gas, emptyMaxFeePerGasOf(chain, world.config))
  const relayedCostWei = relayGas(chain.id, 1) * fees.maxFeePerGas + dataFeeWei
  return {
    status: 'ok',
    ...fees,
    empty,
    relayedCostWei,
    dataFeeWei,
    gasPayers,
    blockTimestampSeconds,
  }
}

function combine(
  address: Address,
  reports: readonly { operator: string; seen: EndpointGasPayers | Unavailable }[],
): GasPayerState[] {
  const views = reports.map(({ operator, seen }) => {
    const gasPayers = seen.status === 'ok' ? seen.gasPayers : []
    return { operator, gasPayer: gasPayers.find((gasPayer) => gasPayer.address === address) }
  })
  const known = views.flatMap(({ gasPayer }) => gasPayer ?? [])
  const wei = upperMedian(known.map((gasPayer) => gasPayer.wei))
  if (wei === undefined) return []
  const agreed = (count: 'minedNonce' | 'safeNonce') =>
    agreedCount(views.map(({ operator, gasPayer }) => ({ operator, count: gasPayer?.[count] })))
  const agreedNonce = agreed('minedNonce')
  const safeNonce = agreed('safeNonce') ?? 0
  const nonces = known.map((gasPayer) => gasPayer.minedNonce)
  const minedNonce = upperMedian(nonces) ?? 0
  const highestNonce = Math.max(...nonces)
  return [{ address, wei, agreedNonce, minedNonce, highestNonce, safeNonce }]
}

/** Number of gas payers that fit into one snapshot beside the calls that read the block. */
const gasPayersPerRead = 60

/** Reads the gas payers part by part. A later part without an answer leaves out only its own. */
async function readFrom(
  rpc: Rpc,
  chain: Chain,
  addresses: readonly Address[],
): Promise<EndpointGasPayers | Unavailable> {
  const first = await readPart(rpc, chain, addresses.slice(0, gasPayersPerRead))
  if (first.status !== 'ok') return first
  const gasPayers = [...first.gasPayers]
  for (let start = gasPayersPerRead; start < addresses.length; start += gasPayersPerRead) {
    const part = await readPart(rpc, chain, addresses.slice(start, start + gasPayersPerRead))
    if (part.status === 'ok') gasPayers.push(...part.gasPayers)
  }
  return { ...first, gasPayers }
}

async function readPart(
  rpc: Rpc,
  chain: Chain,
  addresses: readonly Address[],
): Promise<EndpointGasPayers | Unavailable> {
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
  const gasPayers = addresses.flatMap((address, index) => {
    const wei = readWord(snapshot.results[index])
    const own = answers.slice(tags.length * index, tags.length * (index + 1))
    const [minedNonce, safeNonce = 0] = own.map(readCount)
    if (wei === undefined || minedNonce === undefined) return []
    return [{ address, wei, minedNonce, safeNonce }]
  })
  const dataFeeWei = readDataFee(chain, readWord(snapshot.results[addresses.length]))
  const { blockTimestampSeconds } = snapshot
  return { status: 'ok', ...fees, gasPayers, dataFeeWei, blockTimestampSeconds }
}
