/**
 * What relayers' lanes can pay for now, from what they hold and what they have in flight. Pure: who
 * asks has looked at the chain and at the ledger.
 */
import type { LaneHolding } from '../chains/evm/ask-head.ts'
import type { Preflight } from '../chains/evm/preflight.ts'
import type { LaneSeen } from '../custody/port.ts'

/**
 * A lane in service as the ledger has it: what its newest transactions may cost, newest first, and what it
 * surely has left beside them, as enough endpoints told it last; null where they never did.
 */
export type LaneOpen = {
  address: string
  next_nonce: number
  open_wei: readonly bigint[]
  left_wei: bigint | null
}

/** Cancellations that a relayer keeps gas for, at the price of now. */
const cancelsKept = 20n
const callsMax = 25

/**
 * What the lanes in service can pay for beside all that is in flight from them: cancellations at their
 * worst price, transfers at twice that and no more than leaves the reserve, also where one endpoint
 * tells more than there is. Those that can pay for nothing are left out.
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
    const inFlight = Math.max(next_nonce - held.minedNonce, 0)
    const open = open_wei.slice(0, inFlight).reduce((sum, wei) => sum + wei, 0n)
    const cancels = calls(held.wei - open, cost)
    const free = held.wei - open
    const sure = left_wei !== null && left_wei < free ? left_wei : free
    const transfers = calls(sure - open - cancelsKept * cost, 2n * cost)
    return cancels > 0 ? [{ address, mined_nonce: held.minedNonce, transfers, cancels }] : []
  })
}

/** Whether a lane can carry a transfer. */
export const carriesTransfers = ({ transfers }: LaneSeen): boolean => transfers > 0
