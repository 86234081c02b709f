/** Lists of entries. They hold no secret, so every function that serves callers can make one. */
import * as z from 'zod'
import { fail } from '../../contract/errors.ts'
import { listedEntry, type listRequest } from '../../contract/vault-entry.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { time } from '../../money/row-fields.ts'
import { untrusted } from '../../text/untrusted.ts'
import type { World } from '../../world.ts'
import { siteOrigin } from './site.ts'

const pageDefault = 20
const usernameLengthMax = 320

/** Schema of an entry as private.entry_json returns it. */
export const listedRow = z.object({
  ...listedEntry,
  username: z.string(),
  created_at: time,
  updated_at: time,
  last_used_at: time.nullable(),
})

/** Schema of a row of api.list_vault_entries. */
export const entryRow = z.object({ number: z.string(), listed: listedRow })

type Page = {
  [Name in keyof typeof listRequest]?: z.output<(typeof listRequest)[Name]> | undefined
}

/** Returns a page of the caller's entries, for an operation that needs this scope. */
export async function listEntries(
  { db, world }: { db: CallerDatabase; world: World },
  needed: 'read' | 'vault',
  { site, limit, cursor }: Page,
) {
  const at = site === undefined ? undefined : siteOrigin(site, world.config)
  if (at && 'refused' in at) return fail('site_refused', { message: at.refused })
  const page = Number(limit ?? pageDefault)
  const question = {
    needed,
    page: page + 1,
    ...(cursor === undefined ? {} : { before: Number(cursor) }),
    ...(at === undefined ? {} : { at_site: at.origin }),
  }
  const rows = await db.many('list_vault_entries', question, entryRow)
  const shown = rows.slice(0, page)
  return {
    credentials: shown.map(({ listed }) => entryShown(listed)),
    next_cursor: rows.length > page ? (shown.at(-1)?.number ?? null) : null,
  }
}

/** Returns an entry as agents see it. A user name from a form that an agent asked for is untrusted. */
export function entryShown({ username, ...rest }: z.output<typeof listedRow>) {
  if (rest.asked_by === null) return { ...rest, username }
  const from = `a form that the ${rest.asked_by} asked for`
  return { ...rest, untrusted: untrusted({ from, text: username }, usernameLengthMax) }
}
