/**
 * Writes the books of a chain: ends what signatures came to, settles the payments whose transfers are in final
 * blocks, and reports transfers that no payment explains.
 */
import * as z from 'zod'
import { readAgreedEndings } from '../../chains/evm/agreement.ts'
import type { Range, Transfer } from '../../chains/evm/transfers.ts'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import { assetOf, type Chain } from '../../chains/registry.ts'
import { sqlStateOf, unbound } from '../../db/database.ts'
import { moneyUnaccounted } from '../../mail/money-messages.ts'
import { sealForOutbox } from '../../mail/outbox.ts'
import { formatAmount } from '../../money/amount.ts'
import { bigintText } from '../../money/row-fields.ts'
import type { World } from '../../world.ts'

/** Number of transfers booked in one run, which takes three seconds at most; the next run continues. */
const bookedMax = 5_000
/** Number of signatures read at once: what fits into one call of the chain. */
const endedMax = 97
/** Time after which a run reads no more signatures. */
const endingMilliseconds = 10_000

const unexplainedRow = z.object({
  token: addressSchema,
  tx_hash: wordSchema,
  log_index: z.int(),
  payee: addressSchema,
  amount_atomic: bigintText,
})
type Unexplained = z.output<typeof unexplainedRow>

/** Ends what ended on a chain, and books what left its wallets. */
export async function writeBooks(world: World, chain: Chain): Promise<void> {
  await endSignatures(world, chain)
  const question = { chain: chain.id, batch: bookedMax }
  const rows = await unbound(world.db).many('housekeeping_write_books', question, unexplainedRow)
  for (const row of rows) {
    try {
      await report(world, chain, row)
    } catch (error) {
      // One that cannot be booked must not hold up the others.
      const line = { operation: 'books', chain: chain.caip2, tx_hash: row.tx_hash }
      world.log({ ...line, alarm: 'transfer_not_booked', log: String(error) })
    }
  }
}

const endedRow = z.object({
  id: z.uuid(),
  wallet: addressSchema,
  token: addressSchema,
  nonce: wordSchema,
  is_permit: z.boolean(),
  ended_at: z.int(),
  valid_before: z.int(),
})
type EndedRow = z.output<typeof endedRow>
/** Place before all signatures in their order. */
const beginning = { valid_before: 0, id: '00000000-0000-0000-0000-000000000000' }

/** Settles or releases payments whose signatures ended, the earliest first, as far as final blocks reach. */
async function endSignatures(world: World, chain: Chain): Promise<void> {
  const db = unbound(world.db)
  const end = world.deadline(endingMilliseconds)
  let last: Pick<EndedRow, 'valid_before' | 'id'> | undefined = beginning
  while (last && !end.aborted) {
    const question = { chain: chain.id, batch: endedMax }
    const behind = { behind_end: last.valid_before, behind_id: last.id }
    const rows: EndedRow[] = await db.many(
      'housekeeping_ended',
      { ...question, ...behind },
      endedRow,
    )
    const signatures = rows.map(({ is_permit: isPermit, ended_at: endSeconds, ...row }) => {
      return { ...row, isPermit, endSeconds }
    })
    const endings = rows.length > 0 ? await readAgreedEndings(world, chain, signatures) : []
    const those = (how: string) => rows.flatMap(({ id }, at) => (endings[at] === how ? id : []))
    const [used, unused] = [those('used'), those('unused')]
    if (used.length + unused.length === 0) return
    await db.run('housekeeping_end', { used, unused })
    last = rows.length === endedMax ? rows.at(-1) : undefined
  }
}

/** Enters a transfer in the feed, tells the owner and alarms. */
async function report(world: World, chain: Chain, outflow: Unexplained): Promise<void> {
  const { tx_hash, log_index, payee: recipient } = outflow
  const { token } = assetOf({ chain: chain.id, token: outflow.token })
  const amount = `${formatAmount(outflow.amount_atomic, token.decimals)} ${token.symbol}`
  const found = { at: world.now(), amount, recipient, transaction: tx_hash }
  const mail = await sealForOutbox(world, moneyUnaccounted(world.config.WEB_URL, found))
  const summary = `${amount} left the wallet on ${chain.title} for ${recipient}, and no payment explains it (transaction ${tx_hash}).`
  const question = { chain: chain.id, tx_hash, log_index, summary, mail }
  const rows = z.object({ account_id: z.uuid() })
  const ended = await unbound(world.db).one('housekeeping_enter_unexplained', question, rows)
  if (!ended) return
  const line = { operation: 'books', chain: chain.caip2, tx_hash, log_index, amount }
  world.log({ ...line, alarm: 'unexplained_outflow', account: ended.account_id })
}

/** Number of transfers in one call: about 200 KB, and some tenths of a second of the database. */
const rowsMax = 500
/** Log index above that of any log in a block. */
const lastLog = 2_147_483_647

type LogPosition = { block: number; log: number }

/** Everything read from one position to another, both included. The last piece ends the range. */
export type TransferPiece = {
  from: LogPosition
  to: LogPosition
  transfers: readonly TransferRow[]
  isLast: boolean
}

/** Functions that book a piece and report a transfer that cannot be booked. */
export type Booking = {
  /** Returns false if another run has booked the range. */
  book: (piece: TransferPiece) => Promise<boolean>
  giveUp: (transfer: TransferRow, error: unknown) => void
}

/** Books a range; true once all of it is booked or given up. Throws errors that fit no single piece. */
export async function bookInPieces(
  range: Range,
  transfers: readonly TransferRow[],
  { book, giveUp }: Booking,
): Promise<boolean> {
  const open = piecesOf(range, transfers)
  for (let piece = open.shift(); piece; piece = open.shift()) {
    try {
      if (!(await book(piece))) return false
    } catch (error) {
      open.unshift(...smaller(piece, error, giveUp))
    }
  }
  return true
}

function piecesOf(range: Range, transfers: readonly TransferRow[]): TransferPiece[] {
  const whole = {
    from: { block: range.from, log: 0 },
    to: { block: range.to, log: lastLog },
    transfers,
    isLast: true,
  }
  const pieces: TransferPiece[] = []
  let rest = whole
  while (rest.transfers.length > rowsMax) {
    const [first, others] = splitPiece(rest, rowsMax)
    pieces.push(first)
    rest = others
  }
  return [...pieces, rest]
}

/** Splits a piece behind its first `count` transfers. */
function splitPiece(piece: TransferPiece, count: number): [TransferPiece, TransferPiece] {
  const { transfers, from, to, isLast } = piece
  const last = transfers[count - 1]
  if (!last) throw new Error('a piece has no so many transfers')
  const { block_number: block, log_index: log } = last
  return [
    { from, to: { block, log }, transfers: transfers.slice(0, count), isLast: false },
    { from: { block, log: log + 1 }, to, transfers: transfers.slice(count), isLast },
  ]
}

/** Errors of locks, resources and time (SQLSTATE classes 40, 53, 55, 57): the next run may succeed. */
const passing = /^(40|53|55|57)/

function smaller(piece: TransferPiece, error: unknown, giveUp: Booking['giveUp']): TransferPiece[] {
  const { transfers, to, isLast } = piece
  const [only] = transfers
  const code = sqlStateOf(error)
  if (!only || code === undefined) throw error
  if (transfers.length > 1) return splitPiece(piece, Math.floor(transfers.length / 2))
  if (passing.test(code)) throw error
  giveUp(only, error)
  // The range still has to be ended, here with no transfers.
  return isLast ? [{ from: to, to, transfers: [], isLast }] : []
}

/** Limits of a reading: blocks of a piece at first, and number of pieces, refused ones included. */
export type PieceLimits = { blocksMax: number; readsMax: number }

/**
 * Outcome of a piece: `done` continues behind it, `refused` tries half of it unless it is one block,
 * `stopped` ends the reading.
 */
export type PieceOutcome = 'done' | 'refused' | 'stopped'

/** Reads a range; true if all of it was read, otherwise the next run continues. */
export async function readInPieces(
  { from, to }: Range,
  { blocksMax, readsMax }: PieceLimits,
  read: (piece: Range) => Promise<PieceOutcome>,
): Promise<boolean> {
  let next = from
  let width = blocksMax
  for (let reads = 0; next <= to && reads < readsMax; reads += 1) {
    const piece = { from: next, to: Math.min(to, next + width - 1) }
    const outcome = await read(piece)
    if (outcome === 'stopped' || (outcome === 'refused' && piece.from === piece.to)) return false
    if (outcome === 'done') next = piece.to + 1
    else width = Math.floor((piece.to - piece.from + 1) / 2)
  }
  return next > to
}

/** Element of `transfers` in every SQL function that books what was read. */
export type TransferRow = ReturnType<typeof rowOf> & { nth: number }

/**
 * Converts the transfers of whole blocks, in the order of the chain. `nth` tells equal ones of a
 * transaction apart. A log index does not: it changes when the transaction moves to another block.
 */
export function transferRows(transfers: readonly Transfer[]): TransferRow[] {
  const counts = new Map<string, number>()
  return transfers.map((transfer) => {
    const row = rowOf(transfer)
    const { tx_hash, token, sender, recipient, amount_atomic } = row
    const terms = [tx_hash, token, sender, recipient, amount_atomic].join()
    const nth = (counts.get(terms) ?? 0) + 1
    counts.set(terms, nth)
    return { ...row, nth }
  })
}

function rowOf({ token, from, to, value, authorizationNonce, ...place }: Transfer) {
  return {
    token: token.address,
    sender: from,
    recipient: to,
    amount_atomic: value.toString(),
    // Less than a cent of its currency is sent only to appear in the feed.
    dust: value < 10n ** BigInt(token.decimals) / 100n,
    authorization_nonce: authorizationNonce,
    tx_hash: place.transactionHash,
    log_index: place.logIndex,
    block_number: place.blockNumber,
    block_hash: place.blockHash,
  }
}
