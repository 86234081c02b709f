/**
 * Selects the relayers that can pay for one more transaction, from their balances and their transactions in
 * flight. Pure: the caller has read the chain and the ledger. One that cannot pay after all is found by
 * housekeeping, which gives its calls to another.
 */
import type { Chain } from '../../chains/chain.ts'
import type { GasPayerHolding, Preflight } from '../../chains/evm/preflight.ts'
import { broadcast } from '../../chains/evm/rpc/broadcast.ts'
import type {
  GasPayerSeen,
  RelayAnswer,
  RelayFees,
  RelayRequest,
  SignedTransaction,
} from '../../custody/port.ts'
import type { World } from '../../world.ts'

/** Relayer in service, as the ledger has it. */
export type GasPayerOpen = { address: string; next_nonce: number }

/** Returns those that could pay twice for each of their transactions in flight and for one more. */
export function fundedGasPayers(
  gasPayers: readonly GasPayerOpen[],
  { gasPayers: held, relayedCostWei }: Pick<Preflight, 'gasPayers' | 'relayedCostWei'>,
): GasPayerSeen[] {
  return gasPayers.flatMap(({ address, next_nonce }) => {
    const gasPayer = held.find((one: GasPayerHolding) => one.address === address)
    if (!gasPayer) return []
    // Nothing is mined that was not signed, whatever an endpoint counts.
    const mined = Math.min(gasPayer.minedNonce, next_nonce)
    const isFunded = gasPayer.wei >= 2n * relayedCostWei * BigInt(next_nonce - mined + 1)
    return isFunded ? [{ address, mined_nonce: mined }] : []
  })
}

/** Number of transactions that one caller relays for others; under load each holds up to 25 calls. */
const roundsMax = 40

/** Fees and gas payers as they were just read from the chain. */
export type RelaySeen = RelayFees & { gasPayers: GasPayerSeen[] }

/** Relays what is queued as long as there is something to do. */
export async function relayQueued(world: World, chain: Chain, seen: RelaySeen): Promise<void> {
  const { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, gasPayers } = seen
  const request = { chainId: chain.id, maxFeePerGas, maxPriorityFeePerGas, dataFeeWei, gasPayers }
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
