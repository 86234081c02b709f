/**
 * Keeps one call from stopping a queue. A call of the ledger that cannot be read or encoded is set aside
 * for good; its payment ends with its time. A call that its account's gas does not pay for now is set aside
 * for a while. Both are logged, and the rest is carried.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { CostOf, PaidCalls } from './affordable.ts'
import { affordCancels, callsPaidFor } from './affordable.ts'
import type { CallRow } from './call-row.ts'
import { callOf, callRow } from './call-row.ts'
import type { LeasedSlot, LeasedSlotRow } from './claim.ts'
import type { RelayFees } from './port.ts'
import { encodeCall } from './relay-transaction.ts'

const named = z.object({ payment: z.uuid(), kind: z.string() })

/** Sets aside the calls that cannot be carried. `own`: another call of the caller's goes with the rest. */
export async function setAsideBad(
  world: World,
  slot: LeasedSlotRow,
  hasOwnCall: boolean,
): Promise<LeasedSlot> {
  const { good, bad } = sortCalls(world, slot.calls)
  if (bad.length > 0) {
    const calls = bad.flatMap((call) => named.safeParse(call).data ?? [])
    const question = { lease: slot.lease, calls, own: hasOwnCall, refused: true }
    await unbound(world.db).run('custody_set_aside', question)
  }
  return { ...slot, calls: good }
}

/**
 * Sets aside the calls that are not paid for at these fees, or at somewhat lower ones if a cancellation
 * needs them. `own` is true if another call of the caller's goes with the rest, at the asked fees.
 */
export async function setAsideUnpaid(
  world: World,
  slot: LeasedSlot,
  asked: RelayFees,
  { own: hasOwnCall, costOf }: { own: boolean; costOf: CostOf },
): Promise<{ claim: LeasedSlot; fees: RelayFees }> {
  const { calls, charges, chain, lease } = slot
  const paid: PaidCalls = hasOwnCall
    ? { calls: callsPaidFor(calls, charges, (count) => costOf(asked, count), 1), fees: asked }
    : affordCancels(calls, charges, asked, costOf)
  const unpaid = calls.filter((call) => !paid.calls.includes(call))
  if (unpaid.length > 0) {
    const aside = unpaid.map(({ payment, kind }) => ({ payment, kind }))
    const question = { lease, calls: aside, own: hasOwnCall, refused: false }
    await unbound(world.db).run('custody_set_aside', question)
    for (const { payment, kind } of unpaid) {
      world.log({ work: 'custody', chain, payment, log: `no gas is left for its ${kind}` })
    }
  }
  return { claim: { ...slot, calls: paid.calls }, fees: paid.fees }
}

/** Separates the calls that can be put into a transaction from those that cannot, which are logged. */
export function sortCalls(world: World, calls: readonly unknown[]) {
  const good: CallRow[] = []
  const bad: unknown[] = []
  for (const call of calls) {
    try {
      const read = callRow.parse(call)
      encodeCall(callOf(read))
      good.push(read)
    } catch (error) {
      const payment = named.safeParse(call).data?.payment ?? ''
      world.log({ work: 'custody', alarm: 'call_refused', payment, log: String(error) })
      bad.push(call)
    }
  }
  return { good, bad }
}
