/**
 * An entry and codes of mails, opened for one request. Nothing of them is kept, and an error names
 * none: one that does not open was not sealed for its place, and there is no going on with it.
 */
import * as z from 'zod'
import { wrapSchema } from '../sealing/wrap.ts'
import type { UsedEntry } from './inject.ts'
import { placeRow } from './places/place.ts'
import { decodeSecret, usableValues } from './record.ts'
import type { VaultRoom } from './room.ts'
import { codesAround } from './totp.ts'

const codeRow = z.object({
  mail: z.uuid(),
  handle: z.string(),
  kind: z.enum(['code', 'link']),
  hosts: z.array(z.string()),
  sealed: z.unknown(),
})

/** What SQL tells of an entry that may be used, sealed as it is. */
export const openedRow = z.object({
  of_account: z.uuid(),
  site: z.string(),
  username: z.string(),
  version: z.int(),
  sealed: z.unknown(),
  wrap: wrapSchema,
  /** Of the account's mail; null while it has none, and so no codes. */
  mail_wrap: wrapSchema.nullable(),
  codes: z.array(codeRow),
  /** Used up within the hour: not to be sent, and not to be shown. */
  used_codes: z.array(codeRow),
  /** Those that the owner approved. */
  places: z.array(placeRow),
  is_first: z.boolean(),
})
type OpenedRow = z.output<typeof openedRow>

/** Opens it all: values by the names that a template uses, links of mails apart from codes. */
export function usedEntry(room: VaultRoom, record: string, row: OpenedRow): UsedEntry {
  const { of_account: account, site, username, version, sealed, wrap, codes } = row
  const place = { account, record, version, site }
  const secret = decodeSecret(room.open('vault', { ...place, wrap, sealed }))
  const opened = codes.map((code) => {
    const value = openCode(room, row, code)
    return { kind: code.kind, named: [`mail.${code.handle}`, value] as const }
  })
  const named = (kind: 'code' | 'link') =>
    opened.filter((one) => one.kind === kind).map((one) => one.named)
  const now = room.world.now().getTime()
  const values = usableValues(secret, now)
  return {
    origin: site,
    username,
    values: new Map([...values, ...named('code')]),
    links: new Map(named('link')),
    hidden: row.used_codes.map((code) => openCode(room, row, code)),
    totpCodes: secret.totp ? codesAround(secret.totp, now) : [],
  }
}

function openCode(
  room: VaultRoom,
  { of_account: account, site: origin, mail_wrap: wrap }: OpenedRow,
  { mail, handle, hosts, sealed }: OpenedRow['codes'][number],
): string {
  if (wrap === null) throw new Error('a code is there without the key of its mail')
  // It does not open under other hosts than it was sealed for.
  if (!hosts.includes(new URL(origin).hostname)) throw new Error('a code is for another host')
  const place = { account, record: `${mail}/${handle}`, version: 1, site: hosts.join(' ') }
  const bytes = room.open('mail', { ...place, wrap, sealed })
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}
