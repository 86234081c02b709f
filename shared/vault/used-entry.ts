/**
 * An entry and codes of mails, opened for one request. They are not kept, and errors do not repeat them. A
 * record that does not open was not sealed for its place, and the request ends.
 */
import * as z from 'zod'
import { wrapSchema } from '../sealing/wrap.ts'
import { destinationRow } from './destinations/destination.ts'
import { linkSecrets } from './entries/link.ts'
import { decodeSecret, usableValues } from './entries/record.ts'
import type { UsedEntry } from './inject.ts'
import type { VaultContext } from './room.ts'

const codeRow = z.object({
  mail: z.uuid(),
  handle: z.string(),
  kind: z.enum(['code', 'link']),
  hosts: z.array(z.string()),
  sealed: z.unknown(),
})

/** Schema of an entry that may be used, as SQL returns it, still sealed. */
export const openedRow = z.object({
  of_account: z.uuid(),
  site: z.string(),
  username: z.string(),
  version: z.int(),
  sealed: z.unknown(),
  wrap: wrapSchema,
  /** Wrapped key of the account's mail; null until it has mail, and thus codes. */
  mail_wrap: wrapSchema.nullable(),
  codes: z.array(codeRow),
  /** Codes and links used up within the hour, which are neither sent nor shown. */
  used_codes: z.array(codeRow),
  /** Destinations that the owner approved. */
  destinations: z.array(destinationRow),
  is_first: z.boolean(),
  /** True if the calling key stored or drew the secrets itself. */
  is_own: z.boolean(),
})
type OpenedRow = z.output<typeof openedRow>

/** Opens everything: values by their names in templates, and the links of mails apart from the codes. */
export function usedEntry(context: VaultContext, record: string, row: OpenedRow): UsedEntry {
  const { of_account: account, site, username, version, sealed, wrap, codes } = row
  const binding = { account, record, version, site }
  const secret = decodeSecret(context.open('vault', { ...binding, wrap, sealed }))
  const opened = codes.map((code) => {
    const value = openCode(context, row, code)
    return { kind: code.kind, named: [`mail.${code.handle}`, value] as const }
  })
  const named = (kind: 'code' | 'link') =>
    opened.filter((one) => one.kind === kind).map((one) => one.named)
  const values = usableValues(secret, context.world.now().getTime())
  return {
    origin: site,
    username,
    values: new Map([...values, ...named('code')]),
    links: new Map(named('link')),
    hidden: [
      ...row.used_codes.flatMap((code) => {
        const value = openCode(context, row, code)
        return code.kind === 'link' ? linkSecrets(value) : [value]
      }),
      // A site shows it where codes are set up.
      ...(secret.totp ? [secret.totp.seed] : []),
    ],
  }
}

function openCode(
  context: VaultContext,
  { of_account: account, site: origin, mail_wrap: wrap }: OpenedRow,
  { mail, handle, hosts, sealed }: OpenedRow['codes'][number],
): string {
  if (wrap === null) throw new Error('a code is there without the key of its mail')
  // The record is bound to these hosts and does not open under others.
  if (!hosts.includes(new URL(origin).hostname)) throw new Error('a code is for another host')
  const binding = { account, record: `${mail}/${handle}`, version: 1, site: hosts.join(' ') }
  const bytes = context.open('mail', { ...binding, wrap, sealed })
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}
