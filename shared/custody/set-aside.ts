/**
 * Keeps one call from stopping a queue. A call of the ledger that cannot be read or encoded is set aside for
 * good and logged, and the rest is carried. Its payment ends with its time.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { CallRow } from './call-row.ts'
import { callOf, callRow } from './call-row.ts'
import type { LeasedSlot, LeasedSlotRow } from './claim.ts'
import { encodeCall } from './relay-transaction.ts'

const named = z.object({ payment: z.uuid() })

/** Sets aside the calls that cannot be carried. `own`: another call of the caller's goes with the rest. */
export async function setAsideBad(
  world: World,
  slot: LeasedSlotRow,
  hasOwnCall: boolean,
): Promise<LeasedSlot> {
  const { good, bad } = sortCalls(world, slot.calls)
  if (bad.length > 0) {
    const payments = bad.flatMap((call) => named.safeParse(call).data?.payment ?? [])
    const question = { lease: slot.lease, payments, own: hasOwnCall }
    await unbound(world.db).run('custody_set_aside', question)
  }
  return { ...slot, calls: good }
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
