/** What the owner and the operator do, and how often the product's schedule comes. */
import { keepHouse } from '../../../shared/payments/housekeeping.ts'
import { indexTransfers } from '../../../shared/payments/index-transfers.ts'
import { reconcileBalances } from '../../../shared/payments/reconcile.ts'
import type { ActionOf } from './actions.ts'
import { freezeNow, limitsNow } from './book.ts'
import type { Play } from './play.ts'
import { ownerIn, pick } from './play.ts'

/** Approves one of those that wait for it. */
export async function approve(play: Play, { which }: ActionOf<'approve'>): Promise<void> {
  const waiting = play.asked.filter(({ status }) => status === 'awaiting_confirmation')
  const one = pick(waiting, which)
  if (!one) return
  const outcome = await (await ownerIn(play)).decide(one.id, 'approved')
  if (outcome !== 'approved') return
  one.status = 'approved'
  play.book.approved.push({ at: play.clock.seconds(), micros: BigInt(one.micros) })
}

const fieldOf = {
  automatic_daily: 'automatic',
  asserted_daily: 'asserted',
  daily_spending_cap: 'total',
} as const

/** Lowers a limit; raising one is not in the play. */
export async function limit(play: Play, { name, dollars }: ActionOf<'limit'>): Promise<void> {
  const now = limitsNow(play.book)
  const micros = BigInt(dollars) * 1_000_000n
  if (now[fieldOf[name]] <= micros) return
  const order = { limit_name: name, usd_micros: `${micros}` }
  const answer = await (await ownerIn(play)).call('owner_set_limit', order)
  if (!Array.isArray(answer) || answer[0]?.['outcome'] !== 'lowered') return
  play.book.limits.push({ ...now, [fieldOf[name]]: micros, at: play.clock.seconds() })
}

export async function unfreeze(play: Play): Promise<void> {
  const freeze = freezeNow(play.book)
  if (!freeze) return
  const answer = await (await ownerIn(play)).call('owner_unfreeze')
  if (!Array.isArray(answer)) return
  freeze.until = play.clock.seconds()
  play.book.isStopped = false
  // That a frozen account can lose nothing was true until now.
  play.book.stated = play.book.stated.filter(({ at }) => at < freeze.at)
}

const laneMillionths = 1_000_000

export function refill(play: Play): Promise<void> {
  return play.lanes.fund(laneMillionths)
}

/** What functions/housekeeping runs on its schedule. */
export async function house({ product: { world } }: Play): Promise<void> {
  const keepBooks = async () => {
    await indexTransfers(world)
    await reconcileBalances(world, false)
  }
  await Promise.all([keepHouse(world), keepBooks()])
}
