/**
 * Runs the scheduled work: closes payments that were never used, deletes what is kept for a while only,
 * looks at the chain for open payments, keeps lanes and slots going and relays queued calls. Two runs at
 * once are safe: SQL guards each step, and every transaction that is sent was stored and authorized before.
 */
import * as z from 'zod'
import type { Chain } from '../../chains/chain.ts'
import { connectedChains } from '../../chains/registry.ts'
import { unbound } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { paymentRow } from '../payment.ts'
import type { LaneRow } from '../relay/lanes.ts'
import { laneRow, maintainLanes } from '../relay/lanes.ts'
import { sendAndRelay } from '../relay/relay.ts'
import type { Slot } from '../relay/slot.ts'
import { slotRow } from '../relay/slot.ts'
import { followSlots } from '../relay/slots.ts'
import { isShownUnspent } from './on-chain-outcome.ts'
import { watchPayment } from './watch.ts'

/** Number of slots taken at once, so that a run that is cut off has taken few that it did not look at. */
const batchMax = 50
/** Number of payments taken at once, for the same reason. */
const openBatchMax = 40
/** Number of items processed at once, so that a slow chain cannot make a run outlast its interval. */
const parallelMax = 8
/** Time that payments wait for slots, which then continue beside them. */
const stageMilliseconds = 10_000
/** Number of rows of a table deleted at once, so that no statement takes long. */
const forgetBatchMax = 1_000
/** Time after which a run deletes no more. */
const forgetMilliseconds = 5_000
/** Time after which a run starts no more payments. */
const runMilliseconds = 45_000

/** Runs once; returns how many payments and slots it looked at and how many of them moved. */
export async function runHousekeeping(world: World): Promise<{ seen: number; moved: number }> {
  const end = world.deadline(runMilliseconds)
  const none: RelayProgress = { seen: 0, moves: [] }
  const relaying = runOrLog(world, 'relaying', none, () => maintainRelays(world, end))
  await atMost(world, relaying)
  const unwatched = { seen: 0, moves: [] }
  const open = await runOrLog(world, 'watching', unwatched, () => watchOpen(world, end))
  const relayed = await relaying
  // Last, so that nothing urgent waits for it.
  await runOrLog(world, 'forgetting', undefined, () => forgetOld(world))
  const moves = [...relayed.moves, ...open.moves]
  return { seen: relayed.seen + open.seen, moved: moves.filter(Boolean).length }
}

/** Deletes what is older than its age in batches, for a few seconds; the next run continues. */
async function forgetOld(world: World): Promise<void> {
  const end = world.deadline(forgetMilliseconds)
  let deleted = forgetBatchMax
  while (deleted === forgetBatchMax && !end.aborted) {
    const question = { batch: forgetBatchMax }
    const row = await unbound(world.db).one('housekeeping_forget', question, forgottenRow)
    deleted = row?.deleted ?? 0
  }
}

const forgottenRow = z.object({ deleted: z.int() })

/** Waits for work, but not for long: slow work continues beside what comes after it. */
async function atMost(world: World, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.deadline(stageMilliseconds).addEventListener('abort', () => resolve())
  await Promise.race([work, promise])
}

type RelayProgress = { seen: number; moves: boolean[] }

/** Keeps lanes and queues, and slots in the ledger's order until all are seen or the run is over. */
async function maintainRelays(world: World, end: AbortSignal): Promise<RelayProgress> {
  const seen = new Set<number>()
  const moves: boolean[] = []
  for (;;) {
    const ledger = unbound(world.db)
    const [lanes, slots] = await Promise.all([
      ledger.many('housekeeping_lanes', {}, laneRow),
      ledger.many('housekeeping_slots', { batch: batchMax }, slotRow),
    ])
    const unseen = slots.filter(({ slot }) => !seen.has(slot))
    await inParallel(connectedChains(world.config), async (chain) => {
      const own = unseen.filter((slot) => slot.chain === chain.id)
      moves.push(...(await maintainChain(world, chain, lanes, own)))
    })
    for (const { slot } of unseen) seen.add(slot)
    const isAll = slots.length < batchMax || unseen.length === 0
    if (isAll || end.aborted) return { seen: seen.size, moves }
  }
}

/** Looks at payments in the ledger's order, each once, until all are seen or the run is over. */
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

/** Row of a payment, parsed later by itself so that one that cannot be read does not hold up the others. */
const openRow = z.object({ payment_row: z.looseObject({ id: z.uuid() }) })

async function watchAll(world: World, open: readonly z.output<typeof openRow>[], end: AbortSignal) {
  const moves: boolean[] = []
  await inParallel(open, async ({ payment_row: row }) => {
    if (end.aborted) return
    const isMoved = await runOrLog(world, row.id, false, async () => {
      const before = paymentRow.parse(row)
      const { payment: after } = await watchPayment(world, unbound(world.db), before)
      return after.state !== before.state
    })
    moves.push(isMoved)
  })
  return moves
}

/** Time that a look at slots may take to come before what is queued. */
const promptMilliseconds = 2_000

async function maintainChain(
  world: World,
  chain: Chain,
  rows: readonly LaneRow[],
  slots: readonly Slot[],
): Promise<boolean[]> {
  return runOrLog(world, chain.caip2, [], async () => {
    const own = rows.filter((row) => row.chain === chain.id)
    if (own.length === 0) return []
    const seen = await maintainLanes(world, chain, own)
    if (!seen) return []
    const relay = () => sendAndRelay(world, chain, { queued: true }, seen.relay)
    const look = followSlots(world, chain, slots, seen, async (payment) => {
      const before = { ...payment, terms: {} }
      const { isUnused } = await watchPayment(world, unbound(world.db), before)
      const { authorization_nonce } = before
      if (isUnused !== true || authorization_nonce === null) return false
      return isShownUnspent(world, { ...before, authorization_nonce })
    })
    // A slow endpoint must not hold up the queue.
    const isDone = await Promise.race([look.then(() => true), world.pause(promptMilliseconds)])
    if (isDone !== true) await relay()
    const moves = await look
    await relay()
    return moves
  })
}

/** Runs some work. A failure is logged and never holds up the rest. */
async function runOrLog<Result>(
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

/** Processes items in their order. A slow one holds up only its own worker. */
async function inParallel<Item>(items: readonly Item[], run: (item: Item) => Promise<void>) {
  const rest = items.values()
  const work = async () => {
    for (const item of rest) await run(item)
  }
  await Promise.all(Array.from({ length: parallelMax }, work))
}
