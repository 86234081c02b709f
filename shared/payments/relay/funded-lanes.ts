/**
 * Computes what relayer lanes can pay for now, from their balances and their transactions in flight. Pure:
 * the caller has read the chain and the ledger.
 */
import type { LaneHolding } from '../../chains/evm/gas/ask-head.ts'
import type { Preflight } from '../../chains/evm/preflight.ts'
import type { LaneSeen } from '../../custody/port.ts'
import { cancelsKept } from '../../custody/port.ts'

/**
 * Lane in service as the ledger has it: the most that its newest transactions may cost, newest first, and
 * what it surely has left beside them, as enough endpoints told it last; null if they never did, in which
 * case it carries no transfers.
 */
export type LaneOpen = {
  address: string
  next_nonce: number
  open_wei: readonly bigint[]
  left_wei: bigint | null
}

const callsMax = 25

/**
 * Computes what the lanes in service can pay for beside everything in flight: cancellations at their worst
 * price, and transfers at twice that price as far as they leave the reserve, even if one endpoint reports
 * too much. Leaves out lanes that can pay for nothing.
 */
export function fundedLanes(
  lanes: readonly LaneOpen[],
  seen: Pick<Preflight, 'lanes' | 'relayedCostWei'>,
): LaneSeen[] {
  const cost = seen.relayedCostWei
  const calls = (wei: bigint, price: bigint) =>
    wei < price ? 0 : Number(wei / price > BigInt(callsMax) ? callsMax : wei / price)
  return lanes.flatMap(({ address, next_nonce, open_wei, left_wei }) => {
    const held = seen.lanes.find((lane: LaneHolding) => lane.address === address)
    if (!held) return []
    // Nothing is mined that was not signed, whatever an endpoint counts.
    const mined = Math.min(held.minedNonce, next_nonce)
    const inFlight = next_nonce - mined
    const open = open_wei.slice(0, inFlight).reduce((sum, wei) => sum + wei, 0n)
    const cancels = calls(held.wei - open, cost)
    const free = held.wei - open
    const told = left_wei ?? 0n
    const sure = told < free ? told : free
    const spare = sure - open - cancelsKept * cost
    if (cancels === 0) return []
    const lane = {
      address,
      mined_nonce: mined,
      transfers: calls(spare, 2n * cost),
      cancels,
    }
    const wei = { open_wei: `${open}`, free_wei: `${free}`, call_wei: `${cost}` }
    return [{ ...lane, ...wei, spare_wei: `${spare > 0n ? spare : 0n}` }]
  })
}

/** True if a lane can carry a transfer. */
export const carriesTransfers = ({ transfers }: LaneSeen): boolean => transfers > 0
