/** The wrapped keys of one purpose, as the database returns them to the role that may move them. */
import * as z from 'zod'
import { type Database, unbound } from '../../shared/db/database.ts'
import type { Purpose, Roots } from '../../shared/sealing/roots.ts'
import { type WrappedAccountKey, wrapSchema } from '../../shared/sealing/wrap.ts'

const counted = z.object({ purpose: z.string(), version: z.int(), keys: z.int() })
const listed = z.object({ key: z.string(), owner: z.string(), wrap: wrapSchema })
const rewrapped = z.object({ moved: z.int() })

/** Number of keys that one version of the root wraps. */
export type KeyCount = { version: number; keys: number }
/** A wrapped key. Its `owner` is bound into the wrap: an account, or `relayer`. */
export type WrappedKey = z.output<typeof listed>
/** A new wrap for a key; it takes effect only while the stored wrap is `was`. */
export type Move = { key: string; was: WrappedAccountKey; wrap: WrappedAccountKey }

/** The keys of one purpose, and the roots that wrap them. */
export type KeyRing = {
  purpose: Purpose
  roots: Roots
  count(): Promise<KeyCount[]>
  /** Returns keys after `after` that another version wraps than the one that seals. */
  list(after: string | undefined, keysMax: number): Promise<WrappedKey[]>
  /** Stores new wraps and returns how many of them took effect. */
  rewrap(moves: readonly Move[]): Promise<number>
}

/** Opens the keys of accounts, for one of the two purposes that the vault has roots for. */
export function accountKeys(database: Database, roots: Roots): KeyRing {
  const db = unbound(database)
  const { purpose, sealingVersion: sealing } = roots
  return {
    purpose,
    roots,
    count: async () =>
      (await db.many('rotation_count', {}, counted)).filter((row) => row.purpose === purpose),
    list: (after, at_most) =>
      db.many('rotation_list', { purpose, sealing, at_most, after: after ?? null }, listed),
    rewrap: async (moves) => (await db.one('rotation_rewrap', { moves }, rewrapped))?.moved ?? 0,
  }
}

/** Opens the private keys of wallets and relayers. */
export function custodyKeys(database: Database, roots: Roots): KeyRing {
  const db = unbound(database)
  const { sealingVersion: sealing } = roots
  return {
    purpose: 'custody',
    roots,
    count: () => db.many('rotation_custody_count', {}, counted),
    list: (after, at_most) =>
      db.many('rotation_custody_list', { sealing, at_most, after: after ?? null }, listed),
    rewrap: async (moves) =>
      (await db.one('rotation_custody_rewrap', { moves }, rewrapped))?.moved ?? 0,
  }
}
