/**
 * Moves the keys of a ring under the root that seals, in pages, while the service runs. A key whose wrap
 * was replaced meanwhile stays as it is. A key that does not open is reported and skipped. An interrupted
 * rotation is therefore simply run again.
 */
import { randomBytes } from 'node:crypto'
import { rewrapKey } from '../../shared/sealing/wrap.ts'
import type { KeyRing, Move, WrappedKey } from './key-ring.ts'

/** Keys in a page. PostgREST returns at most 1,000 rows unless it is configured otherwise. */
const pageKeys = 200
/** One page is wrapped while the other is stored; more would only take connections from the service. */
const pagesAtOnce = 2

/** Settings of a rotation. */
export type RotationOptions = {
  /** True to open and wrap every key and store nothing. */
  isDry: boolean
  /** Signal that ends the rotation after the pages that are being moved. */
  signal: AbortSignal
  /** Receives, after each page, the number of keys that were moved or did not open so far. */
  progress: (keys: number) => void
}

/** The result of a rotation. */
export type Rotated = {
  /** Number of keys that were moved; in a dry run, of those that would be. */
  moved: number
  /** Keys that did not open, with the reason. */
  faults: { key: string; fault: string }[]
}

/** Goes through all keys once. */
export async function rotate(ring: KeyRing, options: RotationOptions): Promise<Rotated> {
  const rotated: Rotated = { moved: 0, faults: [] }
  // All workers share one listing, so each page goes to the first that is free.
  const pages = pagesOf(ring, options.signal)
  const work = async () => {
    for await (const page of pages) {
      const { moves, faults } = rewrapPage(ring, page)
      rotated.faults.push(...faults)
      // The other worker adds to the sum during this wait, so the sum is read only afterwards.
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
