/** The wrapped keys of one purpose, as the database tells them to the role that may move them. */
import * as z from 'zod'
import { type Database, unbound } from '../../shared/db/database.ts'
import type { Purpose, Roots } from '../../shared/sealing/roots.ts'
import { type Wrap, wrapSchema } from '../../shared/sealing/wrap.ts'

const counted = z.object({ purpose: z.string(), version: z.int(), keys: z.int() })
const listed = z.object({ key: z.string(), owner: z.string(), wrap: wrapSchema })
const rewrapped = z.object({ moved: z.int() })

/** Keys by the version of the root that wraps them. */
export type KeyCount = { version: number; keys: number }
/** `owner` is bound into the wrap: an account, or `relayer`. */
export type WrappedKey = z.output<typeof listed>
/** Takes effect only while the stored wrap is `was`. */
export type Move = { key: string; was: Wrap; wrap: Wrap }

export type KeyRing = {
  purpose: Purpose
  roots: Roots
  count(): Promise<KeyCount[]>
  /** Keys after one that another version wraps than the one that seals. */
  list(after: string | undefined, keysMax: number): Promise<WrappedKey[]>
  /** How many of them were moved. */
  rewrap(moves: readonly Move[]): Promise<number>
}

/** Keys of accounts, for one of the two purposes that the vault has roots for. */
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

/** Private keys of wallets and relayers. */
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
