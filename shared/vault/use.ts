/**
 * Uses secrets of an entry, and codes of mails, in one request to the entry's own site. The use is recorded
 * before the request is sent, and a code counts as used up by then. The agent gets the answer to an API key
 * without the key, and of the answer to a password or a code the status. Secrets go only to destinations that the
 * owner approved; what the site does with them is out of reach.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { checkUrl, safeFetch } from '../egress/safe-fetch.ts'
import { catchRefusal } from './answering.ts'
import { requireApprovedDestination } from './destinations/ask.ts'
import { destinationNeededBy } from './destinations/destination.ts'
import { firstUseMail } from './first-use.ts'
import { requestWith, type SecretRequest } from './inject.ts'
import type { VaultContext } from './room.ts'
import { handlesNamed } from './template.ts'
import { siteAnswerOf } from './use-answer.ts'
import type { UseOrder, UsePort } from './use-port.ts'
import { openedRow, usedEntry } from './used-entry.ts'

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
