/**
 * The key of an account for one purpose, its vault or its mail. It exists wrapped only, and unwrapped
 * while a record is sealed or opened. Deleting the wrap shreds everything that the account sealed for that purpose.
 */
import type { Roots } from '../sealing/roots.ts'
import { keyBytes, spend, type Wrap, wrapKey } from '../sealing/wrap.ts'

/** Bytes that nobody can guess; `World.randomBytes` is one. */
export type RandomBytes = (length: number) => Uint8Array

/** Draws the key of an account. Later versions of the root take it over with `rewrapKey`. */
export function newAccountKey(roots: Roots, random: RandomBytes, account: string): Wrap {
  return spend(random(keyBytes), (key) => wrapKey(roots, random, account, key))
}
