/**
 * Brings signed calls to the chain: sends what custody stored, and goes on with what was queued
 * meanwhile until nothing waits or no lane is free. Whoever stops early loses nothing: what is
 * stored is sent again by housekeeping, and what is queued is taken by the next one.
 */
import type { Chain } from '../chains/chain.ts'
import { broadcast } from '../chains/evm/broadcast.ts'
import type {
  LaneSeen,
  RelayAnswer,
  RelayFees,
  RelayRequest,
  SignedTransaction,
} from '../custody/port.ts'
import type { World } from '../world.ts'

/** Transactions that one request relays for others; under load each holds up to 25 calls. */
const roundsMax = 40

/** Fees and lanes as they were read from the chain a moment ago. */
export type RelaySeen = RelayFees & { lanes: LaneSeen[] }

/** Sends a transaction, and relays what is queued as long as there is something to do. */
export async function sendAndRelay(
  world: World,
  chain: Chain,
  { transaction, queued }: RelayAnswer,
  seen: RelaySeen,
): Promise<void> {
  const { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, lanes } = seen
  const request = { chainId: chain.id, maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, lanes }
  const sending = [send(world, chain, transaction)]
  let isNeeded = queued
  for (let round = 0; isNeeded && round < roundsMax; round += 1) {
    const next = await relayNext(world, request)
    sending.push(send(world, chain, next?.transaction))
    isNeeded = next?.queued === true && next.transaction !== undefined
  }
  await Promise.all(sending)
}

/** A failure leaves what is queued to the next one: whoever asked was signed for, and is answered. */
async function relayNext(world: World, request: RelayRequest): Promise<RelayAnswer | undefined> {
  try {
    return await world.custody?.relay(request)
  } catch (error) {
    world.log({ operation: 'relay', chain: request.chainId, log: String(error) })
    return undefined
  }
}

async function send(world: World, chain: Chain, signed: SignedTransaction | undefined) {
  if (!signed) return
  const { outcome, message } = await broadcast(world, chain, signed.raw)
  if (outcome === 'accepted' || outcome === 'known') return
  // The bytes are stored: housekeeping sends them again until the chain decides.
  world.log({ chain: chain.caip2, tx: signed.hash, broadcast: outcome, log: message ?? '' })
}
