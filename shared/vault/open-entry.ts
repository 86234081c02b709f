/**
 * Entries that are opened to tell something of them: the code of the moment, or to who may read them
 * the secrets. SQL has noted it by then, and of the first time at a site the owner is told before.
 */
import * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { wrapSchema } from '../sealing/wrap.ts'
import { answering } from './answering.ts'
import type { EntriesPort, EntryRequest, ReadEntry, TotpCode } from './entries-port.ts'
import { firstUseMail } from './first-use.ts'
import { entryShown, listedRow } from './list-entries.ts'
import type { Secret } from './record.ts'
import { decodeSecret } from './record.ts'
import type { VaultRoom } from './room.ts'
import { totpCode } from './totp.ts'

/** What private.open_entry answers. */
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

/** The part of the vault that tells something of entries. */
export function viewsOfEntries(room: VaultRoom): Pick<EntriesPort, 'read' | 'totp'> {
  return {
    read: (request) => answering(() => readEntry(room, request)),
    totp: (request) => answering(() => codeOfEntry(room, request)),
  }
}

/** One entry, with its secrets where the caller may read them. */
async function readEntry(room: VaultRoom, { credential, entry }: EntryRequest): Promise<ReadEntry> {
  const db = bindCredential(room.world.db, credential)
  const row = await db.one('vault_read_entry', { entry }, readRow)
  if (!row) throw new Error('vault_read_entry answered no row')
  if (row.opened === null) return { ...entryShown(row.listed), secret_readable: false }
  const { totp, ...secret } = await openSecret(room, credential, row.opened)
  return {
    ...entryShown(row.listed),
    secret_readable: true,
    secret: { ...secret, ...(totp ? { totp: codeNow(room, totp) } : {}) },
  }
}

/** The code of this moment. */
async function codeOfEntry(
  room: VaultRoom,
  { credential, entry }: EntryRequest,
): Promise<TotpCode | Refusal> {
  const db = bindCredential(room.world.db, credential)
  const row = await db.one('vault_open_totp', { entry }, totpRow)
  if (!row) return fail('credential_refused', { message: 'The entry has no TOTP secret.' })
  const { totp } = await openSecret(room, credential, row.opened)
  if (!totp) throw new Error('an entry has another secret part than its row says')
  return { credential_id: entry, site: row.opened.site, ...codeNow(room, totp) }
}

async function openSecret(room: VaultRoom, credential: string, row: Opened): Promise<Secret> {
  const { account, id: record, version, site, wrap, sealed } = row
  if (row.first_use) await tellOwner(room, credential, row)
  return decodeSecret(room.open('vault', { account, record, version, site, wrap, sealed }))
}

async function tellOwner(room: VaultRoom, credential: string, row: Opened) {
  const { world } = room
  const mail = await firstUseMail(world, row.site)
  await bindCredential(world.db, credential).run('vault_note_site', { entry: row.id, mail })
  room.mailSoon()
}

function codeNow({ world }: VaultRoom, totp: NonNullable<Secret['totp']>) {
  const { code, secondsLeft } = totpCode(totp, world.now().getTime())
  return { code, seconds_left: secondsLeft }
}
