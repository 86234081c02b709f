/**
 * Keeps one bad call from stopping a queue: a call that the ledger holds and that cannot be read or
 * encoded is set aside there and logged, and the rest is carried. What was set aside is never tried
 * again; its payment ends with its time.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { CallRow } from './call-row.ts'
import { callOf, callRow } from './call-row.ts'
import type { Claim, ClaimRow } from './claim.ts'
import { encodeCall } from './relay-transaction.ts'

const named = z.object({ payment: z.uuid(), kind: z.string() })

/** The claim with the calls that can be carried; `own` when another one of the caller's goes with it. */
export async function setAsideBad(world: World, claim: ClaimRow, own: boolean): Promise<Claim> {
  const { good, bad } = sortCalls(world, claim.calls)
  if (bad.length > 0) {
    const calls = bad.flatMap((call) => named.safeParse(call).data ?? [])
    await unbound(world.db).run('custody_set_aside', { lease: claim.lease, calls, own })
  }
  return { ...claim, calls: good }
}

/** Those that can be put into a transaction, and those that cannot; the latter are logged. */
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
