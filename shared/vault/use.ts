/**
 * Uses secrets of an entry, and codes of mails, in one request to the entry's own site. What is used
 * stands in the books before the request is sent, and a code is used up by then; the answer goes to
 * the agent without them. Secrets go to places that the owner approved; what the site does there with
 * what it is sent is out of reach.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { checkUrl, safeFetch } from '../egress/safe-fetch.ts'
import { answering } from './answering.ts'
import { firstUseMail } from './first-use.ts'
import { requestWith, type SecretRequest } from './inject.ts'
import { approvedPlace } from './places/ask.ts'
import { placeOf } from './places/place.ts'
import type { VaultRoom } from './room.ts'
import { type Scrubber, scrubberFor } from './scrub.ts'
import { handlesNamed } from './template.ts'
import { answerOf } from './use-answer.ts'
import type { UseOrder, UsePort } from './use-port.ts'
import { openedRow, usedEntry } from './used-entry.ts'

const limits = { timeoutMilliseconds: 20_000, bytesMax: 256 * 1024 }

/** The part of the vault that sends secrets to where they belong. */
export function openUse(room: VaultRoom): UsePort {
  return { use: (order) => answering(() => useSecrets(room, order)) }
}

async function useSecrets(room: VaultRoom, order: UseOrder) {
  const request = await beginUse(room, order)
  if ('refusal' in request) return request
  const sent = safeFetch(room.world, request, limits)
  // Prepared while the site is at work.
  const scrub = request.isUntold ? untold : scrubberFor(request.secrets, request.totpCodes)
  return answerOf(await sent, scrub)
}

const untold: Scrubber = () => Promise.resolve({ withheld: 'short_secret' })

/** Opens what is used, makes the request of it, and has it booked once nothing is in its way. */
async function beginUse(
  room: VaultRoom,
  { credential, credentialId: entry, template, claim }: UseOrder,
): Promise<SecretRequest | Refusal> {
  const { world } = room
  const db = bindCredential(world.db, credential)
  const handles = handlesNamed(template)
  const opened = await db.one('vault_open_use', { entry, handles }, openedRow)
  if (opened === undefined) throw new Error('vault_open_use answered no row')
  const request = requestWith(usedEntry(room, entry, opened), template)
  if ('refused' in request) return fail('template_refused', { message: request.refused })
  const checked = checkUrl(request.url.href, world.config)
  if ('refused' in checked) return fail('site_refused', { message: checked.refused })
  const needed = placeOf(template, request.url, opened)
  if (needed !== undefined && 'refused' in needed)
    return fail('template_refused', { message: needed.refused })
  const used = { entry, origin: opened.site, approved: opened.places }
  const places = await approvedPlace(world, db, used, needed)
  if (isRefusal(places)) return places
  await db.run('vault_begin_use', {
    entry,
    handles,
    places,
    // The address of a link is a secret, and a query may hold one of the agent's.
    request: `${template.method} ${template.path === undefined ? 'a sign-in link' : request.url.pathname}`,
    claim,
    mail: opened.is_first ? await firstUseMail(world, opened.site) : null,
  })
  if (opened.is_first) room.mailSoon()
  return request
}
