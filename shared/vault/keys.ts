/**
 * The key of an account for one purpose, its vault or its mail. It is stored only wrapped, and is unwrapped
 * only while a record is sealed or opened. Deleting the wrap makes everything that the account sealed for
 * that purpose unreadable.
 */
import type { Roots } from '../sealing/roots.ts'
import { keyBytes, useThenWipe, type WrappedAccountKey, wrapKey } from '../sealing/wrap.ts'

/** Source of unpredictable bytes, such as `World.randomBytes`. */
export type RandomBytes = (length: number) => Uint8Array

/** Generates the key of an account and wraps it. `rewrapKey` moves it to a later version of the root. */
export function newAccountKey(
  roots: Roots,
  random: RandomBytes,
  account: string,
): WrappedAccountKey {
  return useThenWipe(random(keyBytes), (key) => wrapKey(roots, random, account, key))
}

/** Returns the stored key of an account or, if there is none, a new one that the caller must store. */
export function keyOrNew(
  roots: Roots,
  random: RandomBytes,
  account: string,
  stored: WrappedAccountKey | null,
): { wrap: WrappedAccountKey; drawn: WrappedAccountKey | null } {
  if (stored) return { wrap: stored, drawn: null }
  const drawn = newAccountKey(roots, random, account)
  return { wrap: drawn, drawn }
}
