/** The vault, as its owner's pages read and change it. */
import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { entryRow } from '../../../shared/vault/entries/list-entries.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { requireOwner } from '../frame.ts'
import type { PageContext } from '../visit.ts'

/** Row of an entry. `maker` made it, null for the owner; `asker` is the one whose link asked for it. */
export const ownerEntryRow = entryRow.extend({
  maker: z.string().nullable(),
  asker: z.string().nullable(),
})
/** Entry of the vault, as its owner sees it. */
export type OwnerEntry = z.output<typeof ownerEntryRow>

/** Reads the entry of the address. One of another account answers exactly as a missing one. */
export async function findEntry(c: PageContext): Promise<OwnerEntry> {
  const { db } = await requireOwner(c)
  const entry = c.req.param('entry') ?? ''
  const found = isUuid(entry)
    ? await db.one('owner_list_entries', { page: 1, entry }, ownerEntryRow)
    : undefined
  if (found) return found
  throw new Rejection(fail('credential_not_found', { message: 'There is no such login here.' }))
}
