/**
 * Goes through a range of blocks in pieces that get smaller wherever nodes refuse them, for they may cap
 * blocks or logs, or do not agree: so what holds a reading up is one block, and all before it is read.
 */
import type { Range } from '../chains/evm/transfers.ts'

/** How much is asked for: at first so many blocks at once, and so many pieces, refused ones too. */
export type PieceLimits = { blocksMax: number; readsMax: number }

/**
 * `done` goes on behind the piece, `refused` comes again with half of it unless that is one block,
 * `stopped` ends the reading.
 */
export type PieceOutcome = 'done' | 'refused' | 'stopped'

/** Whether all of it was read; else the next run goes on. */
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
