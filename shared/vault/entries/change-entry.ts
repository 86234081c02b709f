/**
 * Changes of entries. A change reads the sealed record with its version and commits only if that version is
 * still the current one. If another change came first, it reads and changes again.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../../contract/errors.ts'
import { bindCredential, type CallerDatabase } from '../../db/database.ts'
import { type WrappedAccountKey, wrapSchema } from '../../sealing/wrap.ts'
import { catchRefusal } from '../answering.ts'
import { type AccountKeys, keyOrNew, sealRecord } from '../envelope.ts'
import { newPassword } from '../passwords.ts'
import type { VaultContext } from '../room.ts'
import type { EntriesPort, GenerateRequest, StoredEntry, StoreRequest } from './entries-port.ts'
import {
  decodeSecret,
  encodeSecret,
  listedParts,
  type Secret,
  secretOf,
  withNewPassword,
} from './record.ts'
import { usableSite } from './site.ts'

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

/** Name of an entry: its id, or its site and user name. */
type EntryName = { entry: string } | { site: string; username: string }

type Change = {
  /** Version that the caller means to change; 0 for a new entry, absent for any version. */
  version?: number | undefined
  /** Returns the new secret part, or a sentence that says why there is none. */
  secretOf(present: Secret): Secret | { refused: string }
  /** Returns the event type for the feed, given the version before the change. */
  typeOf(version: number): string
}

/** An entry as the database has it, or a new one that is about to be stored, with version 0. */
type CurrentEntry = {
  account: string
  id: string
  site: string
  username: string
  version: number
  keys: AccountKeys
  /** The account's wrapped key, if it was generated for this change. */
  newWrap: WrappedAccountKey | null
  sealed: unknown
}

/** Returns the operations of the vault that store entries. */
export function changesOfEntries(context: VaultContext): Pick<EntriesPort, 'store' | 'generate'> {
  return {
    store: (request) => catchRefusal(() => storeEntry(context, request)),
    generate: (request) => catchRefusal(() => generatePassword(context, request)),
  }
}

async function storeEntry(
  context: VaultContext,
  { credential, entry }: StoreRequest,
): Promise<StoredEntry | Refusal> {
  const { site, username = '', version, ...given } = entry
  const usable = usableSite(site, context.world.config)
  if ('refused' in usable) return fail('site_refused', { message: usable.refused })
  const change: Change = {
    version,
    secretOf: (present) => secretOf(given, present, username),
    typeOf: (was) => (was === 0 ? 'credential_stored' : 'credential_replaced'),
  }
  return changeEntry(context, credential, { site: usable.origin, username }, change)
}

async function generatePassword(
  context: VaultContext,
  { credential, wish }: GenerateRequest,
): Promise<(StoredEntry & { length: number }) | Refusal> {
  const { site = '', username = '', credential_id: entry, ...rules } = wish
  const named = entry === undefined ? { site, username } : { entry }
  if ('site' in named) {
    const usable = usableSite(site, context.world.config)
    if ('refused' in usable) return fail('site_refused', { message: usable.refused })
    named.site = usable.origin
  }
  const generated = newPassword((length) => context.world.randomBytes(length), rules)
  if ('refused' in generated) return fail('credential_refused', { message: generated.refused })
  const stored = await changeEntry(context, credential, named, {
    secretOf: (present) => withNewPassword(present, generated.password),
    typeOf: () => 'password_generated',
  })
  return 'refusal' in stored ? stored : { ...stored, length: generated.password.length }
}

async function changeEntry(
  context: VaultContext,
  credential: string,
  named: EntryName,
  change: Change,
): Promise<StoredEntry | Refusal> {
  const db = bindCredential(context.world.db, credential)
  const asked = 'entry' in named ? named : { at_site: named.site, for_username: named.username }
  for (let tries = 0; tries < triesMax; tries += 1) {
    const begun = await db.one('vault_begin_store', asked, begunRow)
    if (!begun) throw new Error('vault_begin_store answered no row')
    const current = currentEntryOf(context, begun, named)
    const { id: credential_id, site, username, version } = current
    if (change.version !== undefined && change.version !== version) {
      const message = `The entry has version ${version}. Look at it again before you change it.`
      return fail('conflict', { message })
    }
    const secret = change.secretOf(openCurrentSecret(context, current))
    if ('refused' in secret) return fail('credential_refused', { message: secret.refused })
    if (await commitEntry(context, db, current, secret, change.typeOf(version))) {
      return { credential_id, site, username, version: version + 1 }
    }
  }
  return fail('conflict')
}

function currentEntryOf(context: VaultContext, begun: Begun, named: EntryName): CurrentEntry {
  const { account_found: account, wrap, present } = begun
  const roots = context.roots('vault')
  const random = (length: number) => context.world.randomBytes(length)
  const key = keyOrNew(roots, random, account, wrap)
  const keys = { account, keys: { roots, wrap: key.wrap }, newWrap: key.newWrap }
  if (present) return { ...present, ...keys }
  if ('entry' in named) throw new Error('vault_begin_store let a missing entry pass')
  return { ...named, ...keys, id: context.world.newId(), version: 0, sealed: null }
}

function openCurrentSecret(context: VaultContext, current: CurrentEntry): Secret {
  if (current.version === 0) return {}
  const { keys, version, sealed } = current
  const binding = recordBindingOf(current, version)
  return decodeSecret(context.open('vault', { ...binding, wrap: keys.wrap, sealed }))
}

async function commitEntry(
  context: VaultContext,
  db: CallerDatabase,
  current: CurrentEntry,
  secret: Secret,
  type: string,
): Promise<boolean> {
  const { id, site, username, version, keys, newWrap } = current
  const random = (length: number) => context.world.randomBytes(length)
  const entry = {
    entry: id,
    was_version: version,
    at_site: site,
    for_username: username,
    sealed: sealRecord(keys, random, recordBindingOf(current, version + 1), encodeSecret(secret)),
    ...listedParts(secret),
  }
  const committed = await db.one(
    'vault_commit_store',
    { ...entry, type, new_wrap: newWrap },
    committedRow,
  )
  return committed?.kept === true
}

function recordBindingOf({ account, id, site }: CurrentEntry, version: number) {
  return { account, record: id, version, site }
}
