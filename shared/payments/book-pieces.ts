/**
 * Books what was read of a range in pieces that one call to the database takes, however many transfers
 * somebody put into a block. A piece says all that stands from a log to a log, so that it can be booked
 * again; one that fails is halved, and a single transfer that cannot be booked holds up no other.
 */

import type { Range } from '../chains/evm/transfers.ts'
import { codeOf } from '../db/database.ts'
import type { TransferRow } from './transfer-row.ts'

/** Transfers of one call: about 200 KB, and some tenths of a second of the database. */
const rowsMax = 500
/** More logs than any block has. */
const lastLog = 2_147_483_647

type Place = { block: number; log: number }

/** All that was read from one place to another, both included; the last one ends the range. */
export type TransferPiece = {
  from: Place
  to: Place
  transfers: readonly TransferRow[]
  isLast: boolean
}

/** How pieces are booked, and what is told of a transfer that cannot be. */
export type Booking = {
  /** False where another run has booked the range. */
  book: (piece: TransferPiece) => Promise<boolean>
  giveUp: (transfer: TransferRow, error: unknown) => void
}

/** Whether all of the range is booked, but for what was given up. Throws what says nothing of a piece. */
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

/** Splits behind the first so many transfers. */
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

/** Of locks, resources and time (SQLSTATE classes 40, 53, 55 and 57): the next run may find it otherwise. */
const passing = /^(40|53|55|57)/

function smaller(piece: TransferPiece, error: unknown, giveUp: Booking['giveUp']): TransferPiece[] {
  const { transfers, to, isLast } = piece
  const [only] = transfers
  const code = codeOf(error)
  if (!only || code === undefined) throw error
  if (transfers.length > 1) return cut(piece, Math.floor(transfers.length / 2))
  if (passing.test(code)) throw error
  giveUp(only, error)
  // The range ends all the same, with nothing said of that place.
  return isLast ? [{ from: to, to, transfers: [], isLast }] : []
}
