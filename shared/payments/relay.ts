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

/** What custody answered, and when it was asked. */
export type Relaying = RelayAnswer & { askedAt: Date }

/** Sends a transaction, and relays what is queued as long as there is something to do. */
export async function sendAndRelay(
  world: World,
  chain: Chain,
  { transaction, queued, askedAt }: Relaying,
  seen: RelaySeen,
): Promise<void> {
  const { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, lanes } = seen
  const request = { chainId: chain.id, maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, lanes }
  const sending = [send(world, chain, transaction, askedAt)]
  let isNeeded = queued
  for (let round = 0; isNeeded && round < roundsMax; round += 1) {
    const at = world.now()
    const next = await relayNext(world, request)
    sending.push(send(world, chain, next?.transaction, at))
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

/** After this time a freeze may have been answered since custody kept what it signed. */
const promptMilliseconds = 2_000

async function send(
  world: World,
  chain: Chain,
  signed: SignedTransaction | undefined,
  askedAt: Date,
) {
  if (!signed) return
  const isPrompt = world.now().getTime() - askedAt.getTime() <= promptMilliseconds
  if (!isPrompt && !(await maySend(world, signed))) return
  const { outcome, message } = await broadcast(world, chain, signed.raw)
  if (outcome === 'accepted' || outcome === 'known') return
  // The bytes are stored: housekeeping sends them again until the chain decides.
  world.log({ chain: chain.caip2, tx: signed.hash, broadcast: outcome, log: message ?? '' })
}

/** Whether no account was frozen whose transfer it carries. Where nobody tells, housekeeping sends it. */
async function maySend(world: World, { hash }: SignedTransaction): Promise<boolean> {
  try {
    return (await world.db.call('housekeeping_may_send', { tx_hash: hash })) === true
  } catch (error) {
    world.log({ operation: 'relay', tx: hash, log: String(error) })
    return false
  }
}
