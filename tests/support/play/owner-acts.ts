/** Actions of the owner and the operator, and runs of the product's schedule. */

import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { reconcileBalances } from '../../../shared/payments/deposits/reconcile.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import type { ActionOf } from './actions.ts'
import { freezeNow, limitsNow } from './book.ts'
import { ownerIn, type Play, pick } from './play.ts'

/** Approves one of the payments that wait for it, unless it waited so long that it is forgotten. */
export async function approve(play: Play, { which }: ActionOf<'approve'>): Promise<void> {
  const waiting = play.asked.filter(({ status }) => status === 'awaiting_confirmation')
  const one = pick(waiting, which)
  if (!one) return
  const owner = await ownerIn(play)
  const page = await owner.call('owner_read_approvals', { payments: [one.id] })
  if (!Array.isArray(page) || page.length === 0) return
  const outcome = await owner.decide(one.id, 'approved')
  if (outcome !== 'approved') return
  one.status = 'approved'
  play.book.approved.push({ at: play.clock.seconds(), micros: BigInt(one.micros) })
}

const fieldOf = {
  automatic_daily: 'automatic',
  asserted_daily: 'asserted',
  daily_spending_cap: 'total',
} as const

/** Lowers a limit; a play never raises one. */
export async function limit(play: Play, { name, dollars }: ActionOf<'limit'>): Promise<void> {
  const now = limitsNow(play.book)
  const micros = BigInt(dollars) * 1_000_000n
  if (now[fieldOf[name]] <= micros) return
  const order = { limits: { [name]: `${micros}` } }
  const answer = await (await ownerIn(play)).call('owner_set_limits', order)
  if (!Array.isArray(answer) || answer[0]?.['outcome'] !== 'lowered') return
  play.book.limits.push({ ...now, [fieldOf[name]]: micros, at: play.clock.seconds() })
}

export async function unfreeze(play: Play): Promise<void> {
  const freeze = freezeNow(play.book)
  if (!freeze) return
  const answer = await (await ownerIn(play)).unfreeze()
  if (!Array.isArray(answer)) return
  freeze.until = play.clock.seconds()
  play.book.isStopped = false
  // The statement that a frozen account can lose nothing ends here.
  play.book.stated = play.book.stated.filter(({ at }) => at < freeze.at)
}

const gasPayerMillionths = 1_000_000

export function refill(play: Play): Promise<void> {
  return play.gasPayers.fund(gasPayerMillionths)
}

/** Runs what functions/housekeeping runs on its schedule. */
export async function house({ product: { world } }: Play): Promise<void> {
  const keepBooks = async () => {
    await indexTransfers(world)
    await reconcileBalances(world, false)
  }
  await Promise.all([runHousekeeping(world), keepBooks()])
}
