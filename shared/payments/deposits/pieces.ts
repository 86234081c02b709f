/**
 * Reads a range of blocks in pieces, which shrink wherever nodes refuse one, because they cap blocks or
 * logs or disagree. So only a single block can hold up a reading, and all blocks before it are read.
 */
import type { Range } from '../../chains/evm/transfers.ts'

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
