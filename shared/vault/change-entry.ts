/**
 * Changes of entries. What is sealed now is read with its version, changed, and kept in the place of
 * that version and of no other: who loses against another change reads and changes again.
 */
import * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import { bindCredential, type CallerDatabase } from '../db/database.ts'
import type { Wrap } from '../sealing/wrap.ts'
import { wrapSchema } from '../sealing/wrap.ts'
import { answering } from './answering.ts'
import type { EntriesPort, GenerateRequest, StoredEntry, StoreRequest } from './entries-port.ts'
import { openRecord, readSealed, sealRecord } from './envelope.ts'
import { newAccountKey } from './keys.ts'
import { newPassword } from './password.ts'
import type { Secret } from './record.ts'
import { decodeSecret, encodeSecret, secretOf, withNewPassword } from './record.ts'
import type { VaultRoom } from './room.ts'
import { siteDomainOf } from './site-domain.ts'
import { usableSite } from './usable-site.ts'

const triesMax = 4

const begunRow = z.object({
  account_found: z.uuid(),
  wrap: wrapSchema.nullable(),
  present: z
    .object({
      id: z.uuid(),
      site: z.string(),
      username: z.string(),
      version: z.int(),
      sealed: z.unknown(),
    })
    .nullable(),
})
type Begun = z.output<typeof begunRow>

const committedRow = z.object({ kept: z.boolean() })

/** An entry by its id, or what names one. */
type Named = { entry: string } | { site: string; username: string }

/** A change: what the feed calls it, and what the secret part becomes by it. */
type Change = {
  type: (version: number) => string
  version?: number | undefined
  secretOf(present: Secret): Secret | { refused: string }
}

/** The part of the vault that entries are kept by. */
export function changesOfEntries(room: VaultRoom): Pick<EntriesPort, 'store' | 'generate'> {
  return {
    store: (request) => answering(() => storeEntry(room, request)),
    generate: (request) => answering(() => generatePassword(room, request)),
  }
}

/** Keeps what was given, in a new entry or in the one of this site and user name. */
async function storeEntry(
  room: VaultRoom,
  { credential, entry }: StoreRequest,
): Promise<StoredEntry | Refusal> {
  const { site, username = '', version, ...given } = entry
  const usable = usableSite(site, room.world.config)
  if ('refused' in usable) return fail('site_refused', { message: usable.refused })
  return changeEntry(
    room,
    credential,
    { site: usable.origin, username },
    {
      version,
      type: (was) => (was === 0 ? 'credential_stored' : 'credential_replaced'),
      secretOf: (present) => secretOf(given, present),
    },
  )
}

/** Draws a password that nobody sees, and keeps it before it can be used. */
async function generatePassword(
  room: VaultRoom,
  { credential, wish }: GenerateRequest,
): Promise<(StoredEntry & { length: number }) | Refusal> {
  const { site = '', username = '', credential_id: entry, ...rules } = wish
  const usable = entry === undefined ? usableSite(site, room.world.config) : { origin: '' }
  if ('refused' in usable) return fail('site_refused', { message: usable.refused })
  const drawn = newPassword((length) => room.world.randomBytes(length), rules)
  if ('refused' in drawn) return fail('credential_refused', { message: drawn.refused })
  const named = entry === undefined ? { site: usable.origin, username } : { entry }
  const stored = await changeEntry(room, credential, named, {
    type: () => 'password_generated',
    secretOf: (present) => withNewPassword(present, drawn.password),
  })
  return 'refusal' in stored ? stored : { ...stored, length: drawn.password.length }
}

async function changeEntry(
  room: VaultRoom,
  credential: string,
  named: Named,
  change: Change,
): Promise<StoredEntry | Refusal> {
  const db = bindCredential(room.world.db, credential)
  const asked = 'entry' in named ? named : { at_site: named.site, for_username: named.username }
  for (let tries = 0; tries < triesMax; tries += 1) {
    const begun = await db.one('vault_begin_store', asked, begunRow)
    if (!begun) throw new Error('vault_begin_store answered no row')
    const result = await tryChange(room, db, begun, named, change)
    if (result !== 'stale') return result
  }
  return fail('conflict')
}

async function tryChange(
  room: VaultRoom,
  db: CallerDatabase,
  begun: Begun,
  named: Named,
  change: Change,
): Promise<StoredEntry | Refusal | 'stale'> {
  const { present } = begun
  const version = present?.version ?? 0
  if (change.version !== undefined && change.version !== version) {
    return fail('conflict', {
      message: `The entry has version ${version}. Look at it again before you change it.`,
    })
  }
  // present is there where the entry was named by its id.
  const { id, site, username } = present ?? {
    id: room.world.newId(),
    site: '',
    username: '',
    ...named,
  }
  const { wrap, drawn } = keyOf(room, begun)
  const keys = { roots: room.roots('vault'), wrap }
  const placeOf = (at: number) => ({ account: begun.account_found, record: id, version: at, site })
  const before = present
    ? decodeSecret(openRecord(keys, placeOf(version), readSealed(present.sealed)))
    : {}
  const secret = change.secretOf(before)
  if ('refused' in secret) return fail('credential_refused', { message: secret.refused })
  const random = (length: number) => room.world.randomBytes(length)
  const committed = await db.one(
    'vault_commit_store',
    {
      entry: id,
      was_version: version,
      at_site: site,
      domain: siteDomainOf(site, room.world.config) ?? null,
      for_username: username,
      sealed: sealRecord(keys, random, placeOf(version + 1), encodeSecret(secret)),
      has_password: secret.password !== undefined,
      has_totp: secret.totp !== undefined,
      field_names: Object.keys(secret.fields ?? {}),
      type: change.type(version),
      drawn,
    },
    committedRow,
  )
  if (committed?.kept !== true) return 'stale'
  return { credential_id: id, site, username, version: version + 1 }
}

/** The account's key, or one that is drawn now for its first entry. */
function keyOf(room: VaultRoom, begun: Begun): { wrap: Wrap; drawn: Wrap | null } {
  if (begun.wrap) return { wrap: begun.wrap, drawn: null }
  const random = (length: number) => room.world.randomBytes(length)
  const drawn = newAccountKey(room.roots('vault'), random, begun.account_found)
  return { wrap: drawn, drawn }
}
