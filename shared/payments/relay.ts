/**
 * Brings signed calls to the chain: sends what custody stored, and goes on with what was queued
 * meanwhile until nothing waits or no lane is free. Whoever stops early loses nothing: what is
 * stored is sent again by housekeeping, and what is queued is taken by the next one.
 */
import type { Chain } from '../chains/chain.ts'
import { broadcast } from '../chains/evm/broadcast.ts'
import type { LaneHolding, Preflight } from '../chains/evm/preflight.ts'
import type { LaneSeen, RelayAnswer, RelayFees, SignedTransaction } from '../custody/port.ts'
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
  const { maxFeePerGas, maxPriorityFeePerGas, lanes } = seen
  const request = { chainId: chain.id, maxFeePerGas, maxPriorityFeePerGas, lanes }
  const sending = [send(world, chain, transaction)]
  let isNeeded = queued
  for (let round = 0; isNeeded && round < roundsMax; round += 1) {
    const next = await world.custody?.relay(request)
    sending.push(send(world, chain, next?.transaction))
    isNeeded = next?.queued === true && next.transaction !== undefined
  }
  await Promise.all(sending)
}

async function send(world: World, chain: Chain, signed: SignedTransaction | undefined) {
  if (!signed) return
  const { outcome, message } = await broadcast(world, chain, signed.raw)
  if (outcome === 'accepted' || outcome === 'known') return
  // The bytes are stored: housekeeping sends them again until the chain decides.
  world.log({ chain: chain.caip2, tx: signed.hash, broadcast: outcome, log: message ?? '' })
}

/** Of lanes in service those that can pay for one more: twice the worst case of all in flight. */
export function fundedLanes(
  lanes: readonly { address: string; next_nonce: number }[],
  seen: Pick<Preflight, 'lanes' | 'relayedCostWei'>,
): LaneSeen[] {
  return lanes.flatMap(({ address, next_nonce }) => {
    const held = seen.lanes.find((lane: LaneHolding) => lane.address === address)
    if (!held) return []
    const inFlight = BigInt(Math.max(next_nonce - held.minedNonce, 0))
    const isFunded = held.wei >= 2n * (inFlight + 1n) * seen.relayedCostWei
    return isFunded ? [{ address, mined_nonce: held.minedNonce }] : []
  })
}
