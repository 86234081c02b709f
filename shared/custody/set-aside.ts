/**
 * Keeps one call from stopping a queue. One that the ledger holds and that cannot be read or encoded is
 * set aside for good; its payment ends with its time. One that its account's gas does not pay for now is
 * set aside for a while. Both are logged, and the rest is carried.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { Affordable, CostOf } from './affordable.ts'
import { affordable, affordCancels } from './affordable.ts'
import type { CallRow } from './call-row.ts'
import { callOf, callRow } from './call-row.ts'
import type { Claim, ClaimRow } from './claim.ts'
import type { RelayFees } from './port.ts'
import { encodeCall } from './relay-transaction.ts'

const named = z.object({ payment: z.uuid(), kind: z.string() })

/** The claim with the calls that can be carried; `own` when another one of the caller's goes with it. */
export async function setAsideBad(world: World, claim: ClaimRow, own: boolean): Promise<Claim> {
  const { good, bad } = sortCalls(world, claim.calls)
  if (bad.length > 0) {
    const calls = bad.flatMap((call) => named.safeParse(call).data ?? [])
    const question = { lease: claim.lease, calls, own, refused: true }
    await unbound(world.db).run('custody_set_aside', question)
  }
  return { ...claim, calls: good }
}

/**
 * The claim with the calls that are paid for at these fees, or where a cancellation needs it at somewhat
 * lower ones. `own`: another call of the caller's goes with them, at the fees that are asked.
 */
export async function setAsideUnpaid(
  world: World,
  claim: Claim,
  asked: RelayFees,
  { own, costOf }: { own: boolean; costOf: CostOf },
): Promise<{ claim: Claim; fees: RelayFees }> {
  const { calls, charges, chain, lease } = claim
  const paid: Affordable = own
    ? { calls: affordable(calls, charges, (count) => costOf(asked, count), 1), fees: asked }
    : affordCancels(calls, charges, asked, costOf)
  const unpaid = calls.filter((call) => !paid.calls.includes(call))
  if (unpaid.length > 0) {
    const aside = unpaid.map(({ payment, kind }) => ({ payment, kind }))
    const question = { lease, calls: aside, own, refused: false }
    await unbound(world.db).run('custody_set_aside', question)
    for (const { payment, kind } of unpaid) {
      world.log({ work: 'custody', chain, payment, log: `no gas is left for its ${kind}` })
    }
  }
  return { claim: { ...claim, calls: paid.calls }, fees: paid.fees }
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
