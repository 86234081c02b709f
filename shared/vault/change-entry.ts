/**
 * Changes of entries. What is sealed now is read with its version, changed, and kept in the place of
 * that version and of no other: who loses against another change reads and changes again.
 */
import * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import { bindCredential, type CallerDatabase } from '../db/database.ts'
import { type Wrap, wrapSchema } from '../sealing/wrap.ts'
import { answering } from './answering.ts'
import type { EntriesPort, GenerateRequest, StoredEntry, StoreRequest } from './entries-port.ts'
import { type AccountKeys, sealRecord } from './envelope.ts'
import { keyOrNew } from './keys.ts'
import { newPassword } from './password.ts'
import type { Secret } from './record.ts'
import { decodeSecret, encodeSecret, listedParts, secretOf, withNewPassword } from './record.ts'
import type { VaultRoom } from './room.ts'
import { usableSite } from './usable-site.ts'

const triesMax = 6

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

type Change = {
  /** The version that is meant to be changed, 0 for none; any where it is absent. */
  version?: number | undefined
  /** The new secret part, or a sentence why there is none. */
  secretOf(present: Secret): Secret | { refused: string }
  /** What the feed calls it. */
  typeOf(version: number): string
}

/** An entry as it is found; of one that is not there yet, what it will be, with version 0. */
type Found = {
  account: string
  id: string
  site: string
  username: string
  version: number
  keys: AccountKeys
  /** The account's key where it was drawn just now. */
  drawn: Wrap | null
  sealed: unknown
}

/** The part of the vault that keeps entries. */
export function changesOfEntries(room: VaultRoom): Pick<EntriesPort, 'store' | 'generate'> {
  return {
    store: (request) => answering(() => storeEntry(room, request)),
    generate: (request) => answering(() => generatePassword(room, request)),
  }
}

async function storeEntry(
  room: VaultRoom,
  { credential, entry }: StoreRequest,
): Promise<StoredEntry | Refusal> {
  const { site, username = '', version, ...given } = entry
  const usable = usableSite(site, room.world.config)
  if ('refused' in usable) return fail('site_refused', { message: usable.refused })
  const change: Change = {
    version,
    secretOf: (present) => secretOf(given, present),
    typeOf: (was) => (was === 0 ? 'credential_stored' : 'credential_replaced'),
  }
  return changeEntry(room, credential, { site: usable.origin, username }, change)
}

async function generatePassword(
  room: VaultRoom,
  { credential, wish }: GenerateRequest,
): Promise<(StoredEntry & { length: number }) | Refusal> {
  const { site = '', username = '', credential_id: entry, ...rules } = wish
  const named = entry === undefined ? { site, username } : { entry }
  if ('site' in named) {
    const usable = usableSite(site, room.world.config)
    if ('refused' in usable) return fail('site_refused', { message: usable.refused })
    named.site = usable.origin
  }
  const drawn = newPassword((length) => room.world.randomBytes(length), rules)
  if ('refused' in drawn) return fail('credential_refused', { message: drawn.refused })
  const stored = await changeEntry(room, credential, named, {
    secretOf: (present) => withNewPassword(present, drawn.password),
    typeOf: () => 'password_generated',
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
    const found = foundEntry(room, begun, named)
    const { id: credential_id, site, username, version } = found
    if (change.version !== undefined && change.version !== version) {
      const message = `The entry has version ${version}. Look at it again before you change it.`
      return fail('conflict', { message })
    }
    const secret = change.secretOf(openedSecret(room, found))
    if ('refused' in secret) return fail('credential_refused', { message: secret.refused })
    if (await isKept(room, db, found, secret, change.typeOf(version))) {
      return { credential_id, site, username, version: version + 1 }
    }
  }
  return fail('conflict')
}

function foundEntry(room: VaultRoom, begun: Begun, named: Named): Found {
  const { account_found: account, wrap, present } = begun
  const roots = room.roots('vault')
  const random = (length: number) => room.world.randomBytes(length)
  const key = keyOrNew(roots, random, account, wrap)
  const keys = { account, keys: { roots, wrap: key.wrap }, drawn: key.drawn }
  if (present) return { ...present, ...keys }
  if ('entry' in named) throw new Error('vault_begin_store let a missing entry pass')
  return { ...named, ...keys, id: room.world.newId(), version: 0, sealed: null }
}

function openedSecret(room: VaultRoom, found: Found): Secret {
  if (found.version === 0) return {}
  const { keys, version, sealed } = found
  const place = placeOf(found, version)
  return decodeSecret(room.open('vault', { ...place, wrap: keys.wrap, sealed }))
}

async function isKept(
  room: VaultRoom,
  db: CallerDatabase,
  found: Found,
  secret: Secret,
  type: string,
): Promise<boolean> {
  const { id, site, username, version, keys, drawn } = found
  const random = (length: number) => room.world.randomBytes(length)
  const entry = {
    entry: id,
    was_version: version,
    at_site: site,
    for_username: username,
    sealed: sealRecord(keys, random, placeOf(found, version + 1), encodeSecret(secret)),
    ...listedParts(secret),
  }
  const committed = await db.one('vault_commit_store', { ...entry, type, drawn }, committedRow)
  return committed?.kept === true
}

function placeOf({ account, id, site }: Found, version: number) {
  return { account, record: id, version, site }
}
