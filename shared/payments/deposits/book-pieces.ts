/**
 * Books the transfers of a range in pieces that fit into one call to the database, however many a block
 * has. A piece covers everything from one log to another, so it can be booked again. A piece that fails is
 * halved, and a single transfer that cannot be booked does not hold up the others.
 */

import type { Range } from '../../chains/evm/transfers.ts'
import { sqlStateOf } from '../../db/database.ts'
import type { TransferRow } from './transfer-row.ts'

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
    const [first, others] = cut(rest, rowsMax)
    pieces.push(first)
    rest = others
  }
  return [...pieces, rest]
}

/** Splits a piece behind its first `count` transfers. */
function cut(piece: TransferPiece, count: number): [TransferPiece, TransferPiece] {
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
  if (transfers.length > 1) return cut(piece, Math.floor(transfers.length / 2))
  if (passing.test(code)) throw error
  giveUp(only, error)
  // The range still has to be ended, here with no transfers.
  return isLast ? [{ from: to, to, transfers: [], isLast }] : []
}
