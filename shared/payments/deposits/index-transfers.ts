/**
 * Reads the tokens' transfers to and from wallets of the service. Incoming ones are shown in the feed as
 * deposits, which grant nothing; outgoing ones in final blocks are booked by books.ts. Each run continues where the last one
 * stopped, whichever run that was: the position after a range is booked with its last piece, and only if
 * nobody has booked since the position was read.
 */
import * as z from 'zod'
import { type ChainHeads, readAgreedHeads } from '../../chains/evm/rpc/reads.ts'
import { rpcFor } from '../../chains/evm/rpc/rpc.ts'
import {
  type Range,
  readAgreedTransfers,
  readTransfers,
  type Transfer,
} from '../../chains/evm/transfers.ts'
import { isBlockReplaced } from '../../chains/evm/use.ts'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import { type Chain, connectedChains } from '../../chains/registry.ts'
import { type CallerDatabase, unbound } from '../../db/database.ts'
import type { World } from '../../world.ts'
import {
  bookInPieces,
  readInPieces,
  type TransferPiece,
  type TransferRow,
  transferRows,
  writeBooks,
} from './books.ts'

/**
 * Number of wallets up to which the node is asked for their transfers alone, since geth takes no more
 * topics in one position. Above it, all transfers of the tokens are read, and SQL names the wallets among their
 * addresses: a transfer of strangers costs a look into an index, whatever the number of wallets.
 */
const walletsMax = 1_000
/** Number of blocks asked for at once. */
const blocksMax = 500
/** Number of readings in one pass over a chain, at each endpoint that is needed; the next run continues. */
const readsMax = 60
/** Seconds without a final block booked, while there are some, after which the operator is alerted. */
const behindSecondsMax = 900

const cursorRow = z.object({
  version: z.int(),
  finalized_through: z.int(),
  seen_through: z.int(),
  seen_head_number: z.int(),
  seen_head_hash: wordSchema,
  behind_seconds: z.int().nullable(),
  wallets: z.array(addressSchema).nullable(),
})
type Cursor = z.output<typeof cursorRow>
const enteredRow = z.object({ entered: z.int() })
const walletRow = z.object({ address: addressSchema })
const bookedRow = enteredRow.extend({ next_version: z.int() })

type Run = {
  world: World
  db: CallerDatabase
  chain: Chain
  heads: ChainHeads
  wallets: Cursor['wallets']
  /** Version and position of the cursor, as this run knows them. */
  version: number
  finalizedThrough: number
  /** True if a block cannot be read or endpoints disagree about it. */
  isHeldUp: boolean
  seen: number
  moved: number
}

/** Runs once; returns how many transfers it read and how many deposits are new. */
export async function indexTransfers(world: World): Promise<{ seen: number; moved: number }> {
  const runs = await Promise.all(
    connectedChains(world.config).map((chain) => indexChain(world, chain)),
  )
  const sum = (of: 'seen' | 'moved') => runs.reduce((total, run) => total + (run?.[of] ?? 0), 0)
  return { seen: sum('seen'), moved: sum('moved') }
}

/** Reads a chain, and books what was read before even if no more can be read. */
async function indexChain(world: World, chain: Chain): Promise<Run | undefined> {
  const run = await runOrLog(world, chain, () => readChain(world, chain))
  await runOrLog(world, chain, () => writeBooks(world, chain))
  return run
}

/** Runs some work. A failure is logged and never holds up other chains. */
async function runOrLog<Result>(
  world: World,
  chain: Chain,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run()
  } catch (error) {
    logFailure(world, chain, error instanceof Error ? String(error.stack) : String(error))
    return undefined
  }
}

async function readChain(world: World, chain: Chain): Promise<Run | undefined> {
  const db = unbound(world.db)
  const heads = await readAgreedHeads(world, chain)
  if ('status' in heads) {
    logFailure(world, chain, heads.log)
    return undefined
  }
  if (heads.finalized === undefined) {
    logFailure(world, chain, 'too few endpoints tell the final block')
  }
  if (heads.areApart) logAlarm(world, chain, 'endpoints_disagree', `ends at ${heads.latest.number}`)
  // Opened after the heads were read: a wallet that is opened later is paid in blocks above them.
  const cursor = await openCursor(db, chain, heads)
  const { version, finalized_through: finalizedThrough, wallets } = cursor
  const behindSeconds = cursor.behind_seconds ?? 0
  if (behindSeconds > behindSecondsMax) {
    const log = `nothing behind block ${finalizedThrough} was booked for ${behindSeconds} seconds`
    logAlarm(world, chain, 'index_held_up', log)
  }
  const place = { heads, wallets, version, finalizedThrough }
  const run: Run = { world, db, chain, ...place, isHeldUp: false, seen: 0, moved: 0 }
  // Final blocks come first and newer ones only after all of them: the feed follows the chain's order.
  const final = { from: finalizedThrough + 1, to: heads.finalized ?? finalizedThrough }
  // Final blocks that are held up must not hide newer deposits.
  if (!(await bookRange(run, final, 'final')) && !run.isHeldUp) return run
  const recent = await findRecent(run, cursor)
  if (recent) await bookRange(run, recent, 'seen')
  return run
}

async function openCursor(db: CallerDatabase, chain: Chain, heads: ChainHeads): Promise<Cursor> {
  const question = {
    chain: chain.id,
    head_number: heads.latest.number,
    head_hash: heads.latest.hash,
    wallets_max: walletsMax,
    ...(heads.finalized !== undefined && { finalized_block: heads.finalized }),
  }
  const cursor = await db.one('housekeeping_transfer_cursor', question, cursorRow)
  if (!cursor) throw new Error('too few endpoints tell the final block to begin at')
  return cursor
}

/**
 * Returns the blocks that are not final and have to be read: those above what was read, or all of them if
 * the head of that time was replaced. Undefined while a node does not say. The stored head was read before
 * the logs, so the next run sees a reorganization between the two.
 */
async function findRecent(run: Run, cursor: Cursor): Promise<Range | undefined> {
  const { world, chain, heads, finalizedThrough } = run
  const head = { number: cursor.seen_head_number, hash: cursor.seen_head_hash }
  // A head that one endpoint reported while the others were silent may lie above all blocks.
  const isAhead = head.number > heads.latest.number
  const isReplaced = isAhead || (await isBlockReplaced(world, chain, head))
  if (isReplaced === undefined) {
    logFailure(world, chain, `no word on block ${head.number}`)
    return undefined
  }
  const known = isReplaced ? finalizedThrough : Math.max(finalizedThrough, cursor.seen_through)
  return { from: known + 1, to: heads.latest.number }
}

type Pass = 'seen' | 'final'

/** Reads and books a range; false if another run, the endpoints or `readsMax` ended it. */
function bookRange(run: Run, range: Range, pass: Pass): Promise<boolean> {
  return readInPieces(range, { blocksMax, readsMax }, async (piece) => {
    const read = await readPiece(run, piece, pass)
    if (read.status === 'agreed') {
      return (await book(run, piece, pass, read.answer)) ? 'done' : 'stopped'
    }
    if (piece.from === piece.to) {
      run.isHeldUp = true
      const alarm = read.status === 'disagreed' ? 'endpoints_disagree' : 'index_held_up'
      logAlarm(run.world, run.chain, alarm, `block ${piece.from}: ${read.log}`)
    }
    return 'refused'
  })
}

/** Reads a piece. Final blocks are never read again, so one endpoint alone is not believed about them. */
async function readPiece({ world, chain, wallets }: Run, piece: Range, pass: Pass) {
  if (pass === 'final') return readAgreedTransfers(world, chain, piece, wallets)
  const read = await readTransfers(rpcFor(world, chain), chain, piece, wallets)
  return 'transfers' in read ? { status: 'agreed' as const, answer: read } : read
}

async function book(
  run: Run,
  piece: Range,
  pass: Pass,
  { transfers }: { transfers: Transfer[] },
): Promise<boolean> {
  const own = await ownOf(run, transfers)
  const isBooked = await bookInPieces(piece, transferRows(own), {
    book: (part) => (part.isLast ? close(run, piece, pass, part) : enter(run, pass, part)),
    giveUp: (transfer, error) => logGivenUp(run, transfer, error),
  })
  if (isBooked) run.seen += transfers.length
  return isBooked
}

/** Returns the transfers to and from wallets of the service. */
async function ownOf({ db, wallets }: Run, transfers: Transfer[]): Promise<Transfer[]> {
  if (wallets !== null || transfers.length === 0) return transfers
  const addresses = [...new Set(transfers.flatMap(({ from, to }) => [from, to]))]
  const rows = await db.many('housekeeping_wallets_among', { addresses }, walletRow)
  const known = new Set(rows.map(({ address }) => address))
  return transfers.filter(({ from, to }) => known.has(from) || known.has(to))
}

/** Books transfers that do not fit into the call that ends their range. */
async function enter(run: Run, pass: Pass, { from, to, transfers }: TransferPiece) {
  const { db, chain, version } = run
  const question = {
    chain: chain.id,
    version,
    is_final: pass === 'final',
    from_block: from.block,
    from_log: from.log,
    to_block: to.block,
    to_log: to.log,
    transfers,
  }
  const entered = await db.one('housekeeping_enter_transfers', question, enteredRow)
  run.moved += entered?.entered ?? 0
  return entered !== undefined
}

/** Books the last piece of a range, and with it the range. */
async function close(run: Run, range: Range, pass: Pass, { from, to, transfers }: TransferPiece) {
  const { db, chain, version, heads } = run
  const rest = { rest_block: from.block, rest_log: from.log, to_log: to.log, transfers }
  const booked = { chain: chain.id, version, from_block: range.from, to_block: range.to, ...rest }
  const head = {
    head_number: heads.latest.number,
    head_hash: heads.latest.hash,
    safe_block: heads.safe,
  }
  const row =
    pass === 'seen'
      ? await db.one('housekeeping_book_seen_transfers', { ...booked, ...head }, bookedRow)
      : await db.one('housekeeping_book_final_transfers', booked, bookedRow)
  if (!row) return false
  run.version = row.next_version
  if (pass === 'final') run.finalizedThrough = range.to
  run.moved += row.entered
  return true
}

function logGivenUp({ world, chain }: Run, transfer: TransferRow, error: unknown): void {
  const { tx_hash, log_index } = transfer
  const line = { operation: 'transfers', chain: chain.caip2, tx_hash, log_index }
  world.log({ ...line, alarm: 'transfer_not_booked', log: String(error) })
}

function logAlarm(world: World, chain: Chain, alarm: string, log: string): void {
  world.log({ operation: 'transfers', chain: chain.caip2, alarm, log })
}

function logFailure(world: World, chain: Chain, log: string): void {
  world.log({ operation: 'transfers', chain: chain.caip2, log })
}
