/**
 * Moves the keys of a ring under the root that seals, in pages, while the service goes on. A key
 * whose wrap somebody else replaced meanwhile is left as it is, and one that does not open is told
 * and passed over, so a rotation that was broken off is simply run again.
 */
import { randomBytes } from 'node:crypto'
import { rewrapKey } from '../../shared/sealing/wrap.ts'
import type { KeyRing, Move, WrappedKey } from './key-ring.ts'

/** PostgREST answers no more than 1,000 rows where it is not told otherwise. */
const pageKeys = 200
/** One is wrapped while the other is stored; more would only take connections from the service. */
const pagesAtOnce = 2

export type RotationOptions = {
  /** Opens and wraps every key, and stores nothing. */
  isDry: boolean
  /** Ends the rotation after the pages that are being moved. */
  signal: AbortSignal
  /** Keys that were looked at so far, after each page. */
  progress: (keys: number) => void
}

export type Rotated = {
  /** Keys that another version wrapped; of a dry run those that would be moved. */
  moved: number
  /** Keys that did not open, with the reason. */
  faults: { key: string; fault: string }[]
}

/** Runs through all keys once. */
export async function rotate(ring: KeyRing, options: RotationOptions): Promise<Rotated> {
  const rotated: Rotated = { moved: 0, faults: [] }
  // One listing is shared by all, so each page goes to whoever is free first.
  const pages = pagesOf(ring, options.signal)
  const work = async () => {
    for await (const page of pages) {
      const { moves, faults } = rewrapPage(ring, page)
      rotated.faults.push(...faults)
      // Others add to it while this waits, so it is read only afterwards.
      const moved = options.isDry ? moves.length : await ring.rewrap(moves)
      rotated.moved += moved
      options.progress(rotated.moved + rotated.faults.length)
    }
  }
  await Promise.all(Array.from({ length: pagesAtOnce }, work))
  return rotated
}

async function* pagesOf(ring: KeyRing, signal: AbortSignal): AsyncGenerator<WrappedKey[]> {
  let after: string | undefined
  while (!signal.aborted) {
    const page = await ring.list(after, pageKeys)
    after = page.at(-1)?.key
    if (after === undefined) return
    yield page
  }
}

function rewrapPage({ roots }: KeyRing, page: readonly WrappedKey[]) {
  const moves: Move[] = []
  const faults: Rotated['faults'] = []
  for (const { key, owner, wrap: was } of page) {
    try {
      moves.push({ key, was, wrap: rewrapKey(roots, random, owner, was) })
    } catch (error) {
      faults.push({ key, fault: error instanceof Error ? error.message : String(error) })
    }
  }
  return { moves, faults }
}

function random(length: number): Uint8Array {
  return new Uint8Array(randomBytes(length))
}
