/**
 * Looks at a page of a site for the owner of a login, and asks for approval of the fields that it finds there.
 * No secret is opened; of a sign-in on two pages the user name is sent.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../../contract/errors.ts'
import { bindCredential } from '../../db/database.ts'
import { checkUrl } from '../../egress/safe-fetch.ts'
import { catchRefusal } from '../answering.ts'
import { isTooLong } from '../destinations/destination.ts'
import type { VaultContext } from '../room.ts'
import { browse, visitMilliseconds } from './browse.ts'
import { loginIn } from './filling.ts'
import { loginFormsIn, nameFormIn } from './login-form.ts'
import type { LookOrder, LookPort } from './port.ts'
import { submissionOf } from './submission.ts'
import { destinationOf } from './visit.ts'

const lookedRow = z.object({ site: z.string(), username: z.string() })

/** Returns the operation of the vault that looks at pages. */
export function openLook(context: VaultContext): LookPort {
  return { lookAt: (order) => catchRefusal(() => lookAt(context, order)) }
}

async function lookAt(
  { world }: VaultContext,
  { credential, entry, path }: LookOrder,
): Promise<{ found: number } | Refusal> {
  const db = bindCredential(world.db, credential)
  const looked = await db.one('vault_look', { entry }, lookedRow)
  if (!looked) throw new Error('vault_look answered no row')
  const { site, username } = looked
  const url = URL.canParse(path, site) ? new URL(path, site) : undefined
  const checked = url && checkUrl(url.href, world.config)
  if (url?.origin !== site || !checked || 'refused' in checked) return fail('site_refused')
  url.hash = ''
  const used = { origin: site, username, values: noPassword, links: new Map(), hidden: [] }
  const found = loginFormsIn(await formsAt(world, url, used), site)
  const page = url.pathname + url.search
  const destinations = found.map((one) =>
    destinationOf({ page, form: one.form, filled: loginIn(used, one) }),
  )
  const shown = destinations.filter((destination) => !isTooLong(destination))
  for (const asked of shown) await db.run('vault_ask_found_destination', { entry, asked })
  return { found: shown.length }
}

const noPassword = new Map([['password', '']])

/** Returns the forms of the page or, if it asks for the user name alone, of the page behind it. */
async function formsAt(
  world: VaultContext['world'],
  url: URL,
  { origin, username: value }: { origin: string; username: string },
) {
  const endsAt = world.now().getTime() + visitMilliseconds
  const first = await browse(world, { url, method: 'GET' }, { cookies: [], endsAt, secrets: [] })
  const named =
    loginFormsIn(first.forms, origin).length > 0 ? undefined : nameFormIn(first.forms, origin)
  if (!named || value === '') return first.forms
  const own = [{ control: named.username, value }]
  const submission = submissionOf(origin, named.form, { fields: {}, own, isSignIn: true })
  if ('refused' in submission) return first.forms
  const { cookies } = first
  const request = { ...submission, from: first.url.href }
  return (await browse(world, request, { cookies, endsAt, secrets: [] })).forms
}
