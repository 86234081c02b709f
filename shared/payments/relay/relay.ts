/**
 * Brings signed calls to the chain: sends what custody stored, and relays what was queued meanwhile until
 * nothing waits or no lane is free. Stopping early loses nothing: housekeeping sends again what is stored,
 * and the next caller takes what is queued.
 */
import type { Chain } from '../../chains/chain.ts'
import { broadcast } from '../../chains/evm/rpc/broadcast.ts'
import type {
  LaneSeen,
  RelayAnswer,
  RelayFees,
  RelayRequest,
  SignedTransaction,
} from '../../custody/port.ts'
import type { World } from '../../world.ts'

/** Number of transactions that one caller relays for others; under load each holds up to 25 calls. */
const roundsMax = 40

/** Fees and lanes as they were just read from the chain. */
export type RelaySeen = RelayFees & { lanes: LaneSeen[] }

/** Relays what is queued as long as there is something to do. */
export async function relayQueued(world: World, chain: Chain, seen: RelaySeen): Promise<void> {
  const { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, lanes } = seen
  const request = { chainId: chain.id, maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, lanes }
  const sending: Promise<void>[] = []
  for (let round = 0; round < roundsMax; round += 1) {
    const next = await relayNext(world, request)
    if (!next?.transaction) break
    sending.push(sendStored(world, chain, next.transaction))
    if (!next.queued) break
  }
  await Promise.all(sending)
}

/** Relays the next transaction. A failure leaves the queue to the next caller and is only logged. */
async function relayNext(world: World, request: RelayRequest): Promise<RelayAnswer | undefined> {
  try {
    return await world.custody?.relay(request)
  } catch (error) {
    world.log({ operation: 'relay', chain: request.chainId, log: String(error) })
    return undefined
  }
}

/**
 * Sends a transaction that the ledger stored and let out. If that fails, housekeeping sends it until the chain
 * has decided.
 */
export async function sendStored(
  world: World,
  chain: Chain,
  { hash, raw }: SignedTransaction,
): Promise<void> {
  const { outcome, message } = await broadcast(world, chain, raw)
  if (outcome === 'accepted' || outcome === 'known') return
  world.log({ chain: chain.caip2, tx: hash, broadcast: outcome, log: message ?? '' })
}
