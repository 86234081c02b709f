/**
 * Uses secrets of an entry, and codes of mails, in one request to the entry's own site. The use is recorded
 * before the request is sent, and a code counts as used up by then. The agent gets the answer to an API key
 * without the key, and of the answer to a password or a code the status. Secrets go only to destinations that the
 * owner approved; what the site does with them is out of reach.
 */
import * as z from 'zod'
import { fail, isRefusal, type Refusal } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { checkUrl, safeFetch } from '../egress/safe-fetch.ts'
import { siteFirstUsed } from '../mail/access-messages.ts'
import { type OutboxMail, sealForOutbox } from '../mail/outbox.ts'
import { wrapSchema } from '../sealing/wrap.ts'
import type { World } from '../world.ts'
import { catchRefusal } from './answering.ts'
import {
  destinationNeededBy,
  destinationRow,
  requireApprovedDestination,
} from './destinations/destination.ts'
import { linkSecrets } from './entries/link.ts'
import { decodeSecret, usableValues } from './entries/record.ts'
import { handlesNamed, requestWith, type SecretRequest, type UsedEntry } from './inject.ts'
import type { VaultContext } from './room.ts'
import { siteAnswerOf } from './use-answer.ts'
import type { UseOrder, UsePort } from './use-port.ts'

const limits = { timeoutMilliseconds: 20_000, bytesMax: 256 * 1024 }

/** Returns the operation of the vault that sends secrets to their sites. */
export function openUse(context: VaultContext): UsePort {
  return { use: (order) => catchRefusal(() => useSecrets(context, order)) }
}

async function useSecrets(context: VaultContext, order: UseOrder) {
  const request = await beginUse(context, order)
  if ('refusal' in request) return request
  return siteAnswerOf(await safeFetch(context.world, request, limits), request)
}

/** Opens the secrets, builds the request and records the use once every check has passed. */
async function beginUse(
  context: VaultContext,
  { credential, credentialId: entry, template, claim }: UseOrder,
): Promise<SecretRequest | Refusal> {
  const { world } = context
  const db = bindCredential(world.db, credential)
  const handles = handlesNamed(template)
  const opened = await db.one('vault_open_use', { entry, handles }, openedRow)
  if (opened === undefined) throw new Error('vault_open_use answered no row')
  const request = requestWith(usedEntry(context, entry, opened), template)
  if ('refused' in request) return fail('template_refused', { message: request.refused })
  const checked = checkUrl(request.url.href, world.config)
  if ('refused' in checked) return fail('site_refused', { message: checked.refused })
  const needed = destinationNeededBy(template, request.url, opened)
  if (needed !== undefined && 'refused' in needed)
    return fail('template_refused', { message: needed.refused })
  const used = { entry, origin: opened.site, approved: opened.destinations }
  const destination = needed && (await requireApprovedDestination(world, db, used, [needed]))
  if (destination && isRefusal(destination)) return destination
  await db.run('vault_begin_use', {
    entry,
    handles,
    destinations: destination ? [destination.id] : [],
    // The address of a link is a secret, and a query may contain one of the agent's.
    request: `${template.method} ${template.path === undefined ? 'a sign-in link' : request.url.pathname}`,
    claim,
    mail: opened.is_first ? await firstUseMail(world, opened.site) : null,
  })
  if (opened.is_first) context.mailSoon()
  return request
}

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

/** Returns the notice, sealed for the outbox. */
export function firstUseMail(world: World, site: string): Promise<OutboxMail> {
  return sealForOutbox(world, siteFirstUsed(world.config.WEB_URL, { site, at: world.now() }))
}
