/** The vault, as its owner's pages read and change it. */
import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { entryRow } from '../../../shared/vault/list-entries.ts'
import { owner } from '../frame.ts'
import type { Visit } from '../visit.ts'
import { isUuid } from './approvals.ts'

/** An entry; `maker` is who made it, null for the owner, and `asker` whose link asked for it. */
export const ownEntryRow = entryRow.extend({
  maker: z.string().nullable(),
  asker: z.string().nullable(),
})
export type OwnEntry = z.output<typeof ownEntryRow>

/** The entry of the address; of a stranger's nothing is told but that there is none here. */
export async function findEntry(c: Visit): Promise<OwnEntry> {
  const { db } = await owner(c)
  const entry = c.req.param('entry') ?? ''
  const found = isUuid(entry)
    ? await db.one('owner_list_entries', { page: 1, entry }, ownEntryRow)
    : undefined
  if (found) return found
  throw new Rejection(fail('credential_not_found', { message: 'There is no such login here.' }))
}
