/**
 * What the scheduled function does: closes what was never used, forgets what is kept for a while only,
 * looks at the chain for what is open, keeps lanes and slots going and relays what is queued. Safe to
 * run twice at once: each step is guarded in SQL and every transaction that it sends was stored, and
 * authorized, before.
 */
import * as z from 'zod'
import type { Chain } from '../chains/chain.ts'
import { connectedChains } from '../chains/registry.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import { isShown } from './fate.ts'
import type { LaneRow } from './lanes.ts'
import { keepLanes, laneRow } from './lanes.ts'
import { foundRow } from './payment.ts'
import { sendAndRelay } from './relay.ts'
import type { Slot } from './slot.ts'
import { slotRow } from './slot.ts'
import { keepSlots } from './slots.ts'
import { watchPayment } from './watch.ts'

/** Slots looked at in one run, and half the payments; the next goes on with those unseen for longest. */
const batchMax = 50
/** Batches of payments in one run, while each comes back full. */
const openRoundsMax = 4
/** At once, so that a slow chain cannot make a run outlast its interval. */
const parallelMax = 8

/** One run; answers how many payments and slots it looked at and how many of them moved. */
export async function keepHouse(world: World): Promise<{ seen: number; moved: number }> {
  const ledger = unbound(world.db)
  await orLogged(world, 'forgetting', undefined, () => ledger.run('housekeeping_forget', {}))
  await orLogged(world, 'cancelling', undefined, () => cancelFrozen(world))
  const [lanes, slots] = await Promise.all([
    ledger.many('housekeeping_lanes', {}, laneRow),
    ledger.many('housekeeping_slots', { batch: batchMax }, slotRow),
  ])
  const moves: boolean[] = []
  await inParallel(connectedChains(world.config), async (chain) => {
    const own = slots.filter((slot) => slot.chain === chain.id)
    moves.push(...(await keepChain(world, chain, lanes, own)))
  })
  let seen = slots.length
  for (let round = 0; round < openRoundsMax; round += 1) {
    const open = await ledger.many('housekeeping_open', { batch: 2 * batchMax }, foundRow)
    moves.push(...(await watchAll(world, open)))
    seen += open.length
    if (open.length < 2 * batchMax) break
  }
  return { seen, moved: moves.filter(Boolean).length }
}

async function watchAll(world: World, open: readonly z.output<typeof foundRow>[]) {
  const moves: boolean[] = []
  await inParallel(open, async ({ payment_row: before }) => {
    const isMoved = await orLogged(world, before.id, false, async () => {
      const { payment: after } = await watchPayment(world, unbound(world.db), before)
      return after.state !== before.state
    })
    moves.push(isMoved)
  })
  return moves
}

/** Queues cancellations of what frozen accounts have signed. */
async function cancelFrozen(world: World): Promise<void> {
  const question = { batch: batchMax }
  const live = await unbound(world.db).many('housekeeping_uncancelled', question, uncancelledRow)
  await inParallel(live, async ({ payment }) => {
    await orLogged(world, payment, undefined, async () => {
      await world.custody?.cancel({ paymentId: payment })
    })
  })
}

const uncancelledRow = z.object({ payment: z.uuid() })

async function keepChain(
  world: World,
  chain: Chain,
  rows: readonly LaneRow[],
  slots: readonly Slot[],
): Promise<boolean[]> {
  return orLogged(world, chain.caip2, [], async () => {
    const own = rows.filter((row) => row.chain === chain.id)
    if (own.length === 0) return []
    const seen = await keepLanes(world, chain, own)
    if (!seen) return []
    const moves = await keepSlots(world, chain, slots, seen, async (payment) => {
      const before = { ...payment, terms: {} }
      const { isUnused } = await watchPayment(world, unbound(world.db), before, null)
      const { authorization_nonce } = before
      if (isUnused !== true || authorization_nonce === null) return false
      return isShown(world, { ...before, authorization_nonce }, 'unspent')
    })
    await sendAndRelay(world, chain, { queued: true }, seen.relay)
    return moves
  })
}

/** A failure of one is logged and never keeps the others waiting. */
async function orLogged<Result>(
  world: World,
  what: string,
  otherwise: Result,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    const log = error instanceof Error ? String(error.stack) : String(error)
    world.log({ operation: 'housekeeping', what, log })
    return otherwise
  }
}

async function inParallel<Item>(items: readonly Item[], run: (item: Item) => Promise<void>) {
  for (let start = 0; start < items.length; start += parallelMax) {
    await Promise.all(items.slice(start, start + parallelMax).map(run))
  }
}
