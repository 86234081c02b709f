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
import { isShownUnspent } from './fate.ts'
import type { LaneRow } from './lanes.ts'
import { keepLanes, laneRow } from './lanes.ts'
import { paymentRow } from './payment.ts'
import { sendAndRelay } from './relay.ts'
import type { Slot } from './slot.ts'
import { slotRow } from './slot.ts'
import { keepSlots } from './slots.ts'
import { watchPayment } from './watch.ts'

/** Slots looked at in one run; the next goes on with those unseen for longest. */
const batchMax = 50
/** Payments that are taken at once: a run that is cut off has taken few that it did not look at. */
const openBatchMax = 40
/** At once, so that a slow chain cannot make a run outlast its interval. */
const parallelMax = 8
/** How long payments wait for each of cancellations and slots, which then go on beside them. */
const stageMilliseconds = 10_000
/** After it a run begins with no more payments. */
const runMilliseconds = 45_000

/** One run; answers how many payments and slots it looked at and how many of them moved. */
export async function keepHouse(world: World): Promise<{ seen: number; moved: number }> {
  const forget = () => unbound(world.db).run('housekeeping_forget', {})
  await orLogged(world, 'forgetting', undefined, forget)
  const end = world.deadline(runMilliseconds)
  const cancelling = orLogged(world, 'cancelling', undefined, () => cancelFrozen(world))
  await atMost(world, cancelling)
  const none: Relayed = { seen: 0, moves: [] }
  const relaying = orLogged(world, 'relaying', none, () => keepRelays(world))
  await atMost(world, relaying)
  const unwatched = { seen: 0, moves: [] }
  const open = await orLogged(world, 'watching', unwatched, () => watchOpen(world, end))
  await cancelling
  const relayed = await relaying
  const moves = [...relayed.moves, ...open.moves]
  return { seen: relayed.seen + open.seen, moved: moves.filter(Boolean).length }
}

/** Waits for work, but not for long: what is slow goes on beside what comes after it. */
async function atMost(world: World, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.deadline(stageMilliseconds).addEventListener('abort', () => resolve())
  await Promise.race([work, promise])
}

type Relayed = { seen: number; moves: boolean[] }

async function keepRelays(world: World): Promise<Relayed> {
  const ledger = unbound(world.db)
  const [lanes, slots] = await Promise.all([
    ledger.many('housekeeping_lanes', {}, laneRow),
    ledger.many('housekeeping_slots', { batch: batchMax }, slotRow),
  ])
  const moves: boolean[] = []
  await inParallel(connectedChains(world.config), async (chain) => {
    const own = slots.filter((slot) => slot.chain === chain.id)
    moves.push(...(await keepChain(world, chain, lanes, own)))
  })
  return { seen: slots.length, moves }
}

/** Payments in the order of the ledger, each once, until all are seen or the run is over. */
async function watchOpen(world: World, end: AbortSignal) {
  const seen = new Set<string>()
  const moves: boolean[] = []
  while (!end.aborted) {
    const question = { batch: openBatchMax }
    const open = await unbound(world.db).many('housekeeping_open', question, openRow)
    const unseen = open.filter(({ payment_row: { id } }) => !seen.has(id))
    moves.push(...(await watchAll(world, unseen, end)))
    for (const { payment_row } of unseen) seen.add(payment_row.id)
    if (unseen.length < openBatchMax) break
  }
  return { seen: seen.size, moves }
}

/** A payment that is read by itself: one that cannot be read keeps no other waiting. */
const openRow = z.object({ payment_row: z.looseObject({ id: z.uuid() }) })

async function watchAll(world: World, open: readonly z.output<typeof openRow>[], end: AbortSignal) {
  const moves: boolean[] = []
  await inParallel(open, async ({ payment_row: row }) => {
    if (end.aborted) return
    const isMoved = await orLogged(world, row.id, false, async () => {
      const before = paymentRow.parse(row)
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

/** A look at slots that takes no longer goes before what is queued. */
const promptMilliseconds = 2_000

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
    const relay = () =>
      sendAndRelay(world, chain, { queued: true, askedAt: world.now() }, seen.relay)
    const look = keepSlots(world, chain, slots, seen, async (payment) => {
      const before = { ...payment, terms: {} }
      const { isUnused } = await watchPayment(world, unbound(world.db), before)
      const { authorization_nonce } = before
      if (isUnused !== true || authorization_nonce === null) return false
      return isShownUnspent(world, { ...before, authorization_nonce })
    })
    // What a look finds mined needs no cancellation any more. One that an endpoint draws out holds none up.
    const isDone = await Promise.race([look.then(() => true), world.pause(promptMilliseconds)])
    if (isDone !== true) await relay()
    const moves = await look
    await relay()
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

/** In their order; a slow one holds up nothing but its own place. */
async function inParallel<Item>(items: readonly Item[], run: (item: Item) => Promise<void>) {
  const rest = items.values()
  const work = async () => {
    for (const item of rest) await run(item)
  }
  await Promise.all(Array.from({ length: parallelMax }, work))
}
