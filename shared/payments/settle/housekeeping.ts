/**
 * Runs the scheduled work: keeps gas payers and slots going and relays queued calls, writes the books from final
 * blocks, closes payments that were never used, changes mail addresses and erases closed accounts whose
 * time has come, and deletes what is kept for a while only. Two runs at once are safe: SQL guards each
 * step, and every transaction that is sent was stored and authorized before.
 */
import * as z from 'zod'
import type { Chain } from '../../chains/chain.ts'
import { connectedChains } from '../../chains/registry.ts'
import { unbound } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { indexTransfers } from '../deposits/index-transfers.ts'
import { type GasPayerRow, gasPayerRow, maintainGasPayers } from '../relay/gas-payers.ts'
import { relayQueued } from '../relay/relay.ts'
import { followSlots, type Slot, slotRow } from '../relay/slots.ts'
import { watchPayment } from './watch.ts'

/** Number of slots taken at once, so that a run that is cut off has taken few that it did not look at. */
const batchMax = 50
/** Number of accounts erased at once, each of which may hold 10,000 mails. */
const eraseBatchMax = 10
/** Number of items processed at once, so that a slow chain cannot make a run outlast its interval. */
const parallelMax = 8
/** Number of rows of a table deleted at once, so that no statement takes long. */
const forgetBatchMax = 1_000
/** Time after which a run deletes no more. */
const forgetMilliseconds = 5_000
/** Time after which a run takes no more slots. */
const runMilliseconds = 45_000

/** Runs once; returns how many payments and slots it looked at and how many of them moved. */
export async function runHousekeeping(world: World): Promise<{ seen: number; moved: number }> {
  const end = world.deadline(runMilliseconds)
  const none: RelayProgress = { seen: 0, moves: [] }
  const idle = { seen: 0, moved: 0 }
  const [relayed, indexed] = await Promise.all([
    runOrLog(world, 'relaying', none, () => maintainRelays(world, end)),
    runOrLog(world, 'indexing', idle, () => indexTransfers(world)),
  ])
  await runOrLog(world, 'closing', undefined, () => closeUnused(world))
  await runOrLog(world, 'mail addresses', undefined, () => changeMailAddresses(world))
  await runOrLog(world, 'erasing', undefined, () => eraseAccounts(world))
  // Last, so that nothing urgent waits for it.
  await runOrLog(world, 'forgetting', undefined, () => forgetOld(world))
  const moved = relayed.moves.filter(Boolean).length + indexed.moved
  return { seen: relayed.seen + indexed.seen, moved }
}

async function closeUnused(world: World): Promise<void> {
  await unbound(world.db).run('housekeeping_close_unused', { batch: forgetBatchMax })
}

/** Changes the mail addresses of owners whose time has come. */
async function changeMailAddresses(world: World): Promise<void> {
  await unbound(world.db).run('housekeeping_change_mail_addresses', { batch: batchMax })
}

/** Erases accounts that their owners closed 30 days ago. */
async function eraseAccounts(world: World): Promise<void> {
  await unbound(world.db).run('housekeeping_erase_accounts', { batch: eraseBatchMax })
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

type RelayProgress = { seen: number; moves: boolean[] }

/** Keeps gas payers and queues, and slots in the ledger's order until all are seen or the run is over. */
async function maintainRelays(world: World, end: AbortSignal): Promise<RelayProgress> {
  const seen = new Set<number>()
  const moves: boolean[] = []
  for (;;) {
    const ledger = unbound(world.db)
    const [gasPayers, slots] = await Promise.all([
      ledger.many('housekeeping_gas_payers', {}, gasPayerRow),
      ledger.many('housekeeping_slots', { batch: batchMax }, slotRow),
    ])
    const unseen = slots.filter(({ slot }) => !seen.has(slot))
    await inParallel(connectedChains(world.config), async (chain) => {
      const own = unseen.filter((slot) => slot.chain === chain.id)
      moves.push(...(await maintainChain(world, chain, gasPayers, own)))
    })
    for (const { slot } of unseen) seen.add(slot)
    const isAll = slots.length < batchMax || unseen.length === 0
    if (isAll || end.aborted) return { seen: seen.size, moves }
  }
}

/** Time that a look at slots may take to come before what is queued. */
const promptMilliseconds = 2_000

async function maintainChain(
  world: World,
  chain: Chain,
  rows: readonly GasPayerRow[],
  slots: readonly Slot[],
): Promise<boolean[]> {
  return runOrLog(world, chain.caip2, [], async () => {
    const own = rows.filter((row) => row.chain === chain.id)
    if (own.length === 0) return []
    const seen = await maintainGasPayers(world, chain, own)
    if (!seen) return []
    const relay = () => relayQueued(world, chain, seen.relay)
    const look = followSlots(world, chain, slots, seen, async (payment) => {
      const found = await watchPayment(world, unbound(world.db), { ...payment, terms: {} })
      return found.payment.state !== 'settled'
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
