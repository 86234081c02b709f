/**
 * Opens entries to give out their current code or, to callers that may read them, their secrets. SQL has
 * recorded the access by then. At the first access for a site, the owner is notified before it is opened.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../../contract/errors.ts'
import { bindCredential } from '../../db/database.ts'
import { wrapSchema } from '../../sealing/wrap.ts'
import { catchRefusal } from '../answering.ts'
import type { VaultContext } from '../room.ts'
import { firstUseMail } from '../use.ts'
import type { EntriesPort, EntryRequest, ReadEntry, TotpCode } from './entries-port.ts'
import { entryShown, listedRow } from './list-entries.ts'
import { decodeSecret, type Secret } from './record.ts'
import { totpCode } from './totp.ts'

/** Schema of the object that private.open_entry returns. */
const opened = z.object({
  account: z.uuid(),
  id: z.uuid(),
  site: z.string(),
  version: z.int(),
  sealed: z.unknown(),
  wrap: wrapSchema,
  first_use: z.boolean(),
})
type Opened = z.output<typeof opened>

const totpRow = z.object({ opened })
const readRow = z.object({ listed: listedRow, opened: opened.nullable() })

/** Returns the operations of the vault that give out parts of entries. */
export function viewsOfEntries(context: VaultContext): Pick<EntriesPort, 'read' | 'totp'> {
  return {
    read: (request) => catchRefusal(() => readEntry(context, request)),
    totp: (request) => catchRefusal(() => codeOfEntry(context, request)),
  }
}

/** Returns one entry, with its secrets if the caller may read them. */
async function readEntry(
  context: VaultContext,
  { credential, entry }: EntryRequest,
): Promise<ReadEntry> {
  const db = bindCredential(context.world.db, credential)
  const row = await db.one('vault_read_entry', { entry }, readRow)
  if (!row) throw new Error('vault_read_entry answered no row')
  if (row.opened === null) return { ...entryShown(row.listed), secret_readable: false }
  const { totp, ...secret } = await openSecret(context, credential, row.opened)
  return {
    ...entryShown(row.listed),
    secret_readable: true,
    secret: { ...secret, ...(totp ? { totp: codeNow(context, totp) } : {}) },
  }
}

/** Returns the current TOTP code of an entry. */
async function codeOfEntry(
  context: VaultContext,
  { credential, entry }: EntryRequest,
): Promise<TotpCode | Refusal> {
  const db = bindCredential(context.world.db, credential)
  const row = await db.one('vault_open_totp', { entry }, totpRow)
  if (!row) return fail('credential_refused', { message: 'The entry has no TOTP secret.' })
  const { totp } = await openSecret(context, credential, row.opened)
  if (!totp) throw new Error('an entry has another secret part than its row says')
  return { credential_id: entry, site: row.opened.site, ...codeNow(context, totp) }
}

async function openSecret(context: VaultContext, credential: string, row: Opened): Promise<Secret> {
  const { account, id: record, version, site, wrap, sealed } = row
  if (row.first_use) await notifyOfFirstUse(context, credential, row)
  return decodeSecret(context.open('vault', { account, record, version, site, wrap, sealed }))
}

async function notifyOfFirstUse(context: VaultContext, credential: string, row: Opened) {
  const { world } = context
  const mail = await firstUseMail(world, row.site)
  await bindCredential(world.db, credential).run('vault_note_site', { entry: row.id, mail })
  context.mailSoon()
}

function codeNow({ world }: VaultContext, totp: NonNullable<Secret['totp']>) {
  const { code, secondsLeft } = totpCode(totp, world.now().getTime())
  return { code, seconds_left: secondsLeft }
}
