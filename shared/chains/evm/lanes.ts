/**
 * What lanes have on chain, in one HTTP request: their balances, how many of their transactions are
 * mined, and what gas costs now.
 */
import type { Address, Chain } from '../chain.ts'
import { quantitySchema } from '../hex.ts'
import type { Fees } from './fees.ts'
import { feeHistoryCall, readFees, relayGas } from './fees.ts'
import { decodeSnapshot, encodeSnapshot, nativeCall, readWord } from './multicall.ts'
import type { ChainWorld, RpcAnswer, Unavailable } from './rpc.ts'
import { readAnswer, rpcFor } from './rpc.ts'

/** Transactions counted as of the latest, safe and finalized block; zero where there is no such tag. */
export type LaneState = {
  address: Address
  wei: bigint
  minedNonce: number
  safeNonce: number
  finalizedNonce: number
}

/** Lanes of one chain, and what one relayed transfer costs there at worst, in wei. */
export type LaneStates = Fees & { status: 'ok'; lanes: LaneState[]; relayedCostWei: bigint }

const tags = ['latest', 'safe', 'finalized'] as const

/** Reads them all; a lane of which the node does not say everything is left out. */
export async function readLanes(
  world: ChainWorld,
  chain: Chain,
  addresses: readonly Address[],
): Promise<LaneStates | Unavailable> {
  const counts = addresses.flatMap((address) =>
    tags.map((tag) => ({ method: 'eth_getTransactionCount', params: [address, tag] })),
  )
  const [state, history, ...answers] = await rpcFor(world, chain).batch([
    encodeSnapshot(chain, addresses.map(nativeCall)),
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
  const relayedCostWei = relayGas(chain.id, 1) * fees.maxFeePerGas
  return { status: 'ok', ...fees, lanes, relayedCostWei }
}

function countOf(answer: RpcAnswer): number | undefined {
  const read = readAnswer(answer, quantitySchema)
  return 'value' in read ? Number(read.value) : undefined
}
