/**
 * Selects the relayers that can pay for one more transaction, from their balances and their transactions in
 * flight. Pure: the caller has read the chain and the ledger. One that cannot pay after all is found by
 * housekeeping, which gives its calls to another.
 */
import type { LaneHolding, Preflight } from '../../chains/evm/preflight.ts'
import type { LaneSeen } from '../../custody/port.ts'

/** Relayer in service, as the ledger has it. */
export type LaneOpen = { address: string; next_nonce: number }

/** Returns those that could pay twice for each of their transactions in flight and for one more. */
export function fundedLanes(
  lanes: readonly LaneOpen[],
  { lanes: held, relayedCostWei }: Pick<Preflight, 'lanes' | 'relayedCostWei'>,
): LaneSeen[] {
  return lanes.flatMap(({ address, next_nonce }) => {
    const lane = held.find((one: LaneHolding) => one.address === address)
    if (!lane) return []
    // Nothing is mined that was not signed, whatever an endpoint counts.
    const mined = Math.min(lane.minedNonce, next_nonce)
    const isFunded = lane.wei >= 2n * relayedCostWei * BigInt(next_nonce - mined + 1)
    return isFunded ? [{ address, mined_nonce: mined }] : []
  })
}
