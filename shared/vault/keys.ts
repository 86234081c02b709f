/**
 * The key of an account for one purpose, its vault or its mail. It exists wrapped only, and unwrapped
 * while a record is sealed or opened. Deleting the wrap shreds everything that the account sealed
 * for that purpose.
 */
import type { Roots } from '../sealing/roots.ts'
import { keyBytes, spend, type Wrap, wrapKey } from '../sealing/wrap.ts'

/** Bytes that nobody can guess; `World.randomBytes` is one. */
export type RandomBytes = (length: number) => Uint8Array

/** Draws the key of an account. Later versions of the root take it over with `rewrapKey`. */
export function newAccountKey(roots: Roots, random: RandomBytes, account: string): Wrap {
  return spend(random(keyBytes), (key) => wrapKey(roots, random, account, key))
}

/** The stored key of an account or, where it has none, one that is drawn now and has to be kept. */
export function keyOrNew(
  roots: Roots,
  random: RandomBytes,
  account: string,
  stored: Wrap | null,
): { wrap: Wrap; drawn: Wrap | null } {
  if (stored) return { wrap: stored, drawn: null }
  const drawn = newAccountKey(roots, random, account)
  return { wrap: drawn, drawn }
}
