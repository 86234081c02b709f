/**
 * The frame of every page: its security headers, and its context, which is the world, the request, and the
 * owner of the session. A page reaches an account through `requireOwner` alone, so it cannot show one
 * without a session.
 */
import type { MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { fail, Rejection } from '../../shared/contract/errors.ts'
import { bindCredential } from '../../shared/db/database.ts'
import { required } from '../../shared/env.ts'
import { formFieldsIn } from '../../shared/http/input.ts'
import { readSession, renewSession } from './session-cookie.ts'
import { type Done, type DoneDetails, keepDone } from './ui/form.tsx'
import { type Owner, type PageContext, type WebEnv, webAppPath } from './visit.ts'

type Allowed = {
  /** The one origin besides ours that the page may connect to. */
  reaches: string | undefined
  /** Origin whose script and frame the page may load. */
  embeds: string | undefined
  /** True for the page that registers the service worker (client/notifications.ts). */
  loadsWorker: boolean | undefined
}

/** Returns the policy of a page. */
function contentSecurityPolicy({ reaches, embeds, loadsWorker = false }: Allowed): string {
  return [
    "default-src 'none'",
    ["script-src 'self'", embeds].filter(Boolean).join(' '),
    ...(embeds === undefined ? [] : [`frame-src ${embeds}`]),
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    "worker-src 'self'",
    ["connect-src 'self'", reaches].filter(Boolean).join(' '),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    // A script of somebody else writes into the document in its own way.
    ...(embeds === undefined ? trustedTypes(loadsWorker) : []),
  ].join('; ')
}

function trustedTypes(loadsWorker: boolean): string[] {
  return [
    "require-trusted-types-for 'script'",
    `trusted-types ${loadsWorker ? 'worker' : "'none'"}`,
  ]
}

const permissions = [
  'publickey-credentials-get=(self)',
  'publickey-credentials-create=(self)',
  'clipboard-write=(self)',
  ...['camera', 'geolocation', 'microphone', 'payment', 'usb'].map((name) => `${name}=()`),
].join(', ')

const fixed: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': permissions,
  // With `no-referrer` a browser would send our own forms without an origin.
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}

/** Sets the headers of every answer. Pages show money: they must not be cached by default, nor framed. */
export const pageHeaders: MiddlewareHandler<WebEnv> = async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(fixed)) c.header(name, value)
  const relay = c.get('walletRelay')
  const reaches = relay && new URL(relay.url).origin
  const [embeds, loadsWorker] = [c.get('challengeOrigin'), c.get('loadsWorker')]
  c.header('content-security-policy', contentSecurityPolicy({ reaches, embeds, loadsWorker }))
  c.header('x-request-id', c.get('requestId'))
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store')
}

const sessionRow = z.object({
  account_id: z.string(),
  alias: z.string(),
  frozen: z.boolean(),
  hold_until: z.string().nullable(),
  payments_waiting: z.int(),
  mandates_waiting: z.int(),
  erases_at: z.string().nullable(),
})

/** Error for a page that a closed account does not have; the answer leads to `/closed`. */
export class ClosedAccount extends Error {}

/** Pages of a closed account: its own, those of a proof and a hold, and the exports. */
const pagesOfClosed = /^\/web\/((closed|logout|proof|hold)(\/|$)|(activity|payments)\.csv$)/

/**
 * Returns the owner, read once for a request. Without a session that the database knows, the visitor is
 * sent to the sign-in page, which leads back.
 */
export async function requireOwner(c: PageContext): Promise<Owner> {
  const known = c.get('owner')
  if (known) return known
  const world = c.get('world')
  const session = await readSession(c)
  if (!session) throw new Rejection(fail('unauthorized'))
  const credential = await credentialOf(session.sid, required(world.config, 'API_KEY_PEPPER'))
  const db = bindCredential(world.db, credential)
  const row = await db.one('owner_read_session', {}, sessionRow)
  if (!row) throw new Error('an admitted caller has no account')
  const {
    account_id: id,
    alias,
    frozen: isFrozen,
    hold_until: holdUntil,
    erases_at: erasesAt,
  } = row
  const mailAddress = `${alias}@${world.config.MAIL_DOMAIN}`
  const waiting = { payments: row.payments_waiting, mandates: row.mandates_waiting }
  const account = { id, alias, mailAddress, isFrozen, holdUntil, erasesAt }
  const found = { db, credential, account, waiting }
  c.set('owner', found)
  requireOwnAccount(c, found)
  if (erasesAt !== null && !pagesOfClosed.test(c.req.path)) throw new ClosedAccount()
  await renewSession(c, session, db)
  return found
}

/** Refuses a form whose page was shown for another account, or for none. */
function requireOwnAccount(c: PageContext, { account }: Owner): void {
  if (c.req.method !== 'POST' || c.get('formAccount') === account.id) return
  throw new Rejection(fail('foreign_form', { message: otherAccount }))
}

const otherAccount =
  'This form was opened before you signed in to this account, so nothing has changed. Open the page ' +
  'again to send it for this account. For another account, sign out and sign in to that one.'

/** Reads the fields of a form; `requireOwnForm` has checked that the body is one. */
export async function readFormFields(c: PageContext): Promise<URLSearchParams> {
  // Postgres text cannot contain this character, and no person types it.
  const kept = (text: string) => text.replaceAll('\0', '')
  const sent = [...formFieldsIn(await c.req.text())]
  return new URLSearchParams(
    sent.map(([name, value]): [string, string] => [kept(name), kept(value)]),
  )
}

/**
 * Answers a form with 303: the browser fetches the next page, and going back sends nothing twice. `done` has that
 * page tell what the form did.
 */
export function goTo(c: PageContext, path: string, done?: Done, details?: DoneDetails): Response {
  if (done !== undefined) keepDone(c, done, details)
  return c.redirect(`${webAppPath}${path}`, 303)
}
