/** The session of a visitor, in the form that the rules of signing in take. */
import type { MiddlewareHandler } from 'hono'
import { setCookie } from 'hono/cookie'
import * as z from 'zod'
import {
  type Browser,
  type OwnerSession,
  sealSessionNotice,
} from '../../shared/auth/new-session.ts'
import { fail, Rejection } from '../../shared/contract/errors.ts'
import { toHex } from '../../shared/digest.ts'
import { formTokenOf, isOwnForm } from '../../shared/http/browser.ts'
import { clientOf } from '../../shared/http/caller.ts'
import { formFieldsIn } from '../../shared/http/input.ts'
import { goTo, requireOwner } from './frame.ts'
import { browserTokenOf, endSession, keepSession } from './session-cookie.ts'
import { deleteFormDraft, hostCookie, type PageContext, type WebEnv } from './visit.ts'

/** Describes the browser of a request; user agents longer than 256 characters are cut. */
export function browserOf(c: PageContext): Browser {
  const { headers } = c.req.raw
  const userAgent = (headers.get('user-agent') ?? '').slice(0, 256)
  const token = browserTokenOf(c)
  const client = clientOf(c.get('world').config, headers)
  return { userAgent, client, ...(token !== undefined && { token }) }
}

/** Returns the owner who is signed in, with the browser in use. */
export async function ownerSessionOf(c: PageContext): Promise<OwnerSession> {
  const { db, account } = await requireOwner(c)
  return { world: c.get('world'), db, account, browser: browserOf(c) }
}

/** Seals a mail to the owner about what this form does, for the SQL function that does it. */
export async function sealOwnerNotice(
  c: PageContext,
  message: Parameters<typeof sealSessionNotice>[1],
) {
  return sealSessionNotice(await ownerSessionOf(c), message)
}

/** Stores the new token of a session in the browser and redirects. */
export function enterSession(c: PageContext, token: string, way: string): Response {
  keepSession(c, token)
  return goTo(c, way)
}

/** Signs in: ends the session that the browser had and continues in the new one. */
export async function signIn(c: PageContext, token: string, way: string): Promise<Response> {
  await endSession(c)
  deleteFormDraft(c)
  return enterSession(c, token, way)
}

const refusal = z.enum(['account_on_hold', 'proof_required'])
const securityRow = z.object({
  security: z.object({
    email: z.string(),
    has_password: z.boolean(),
    /** Reason for which a change of the ways to sign in would be refused; null if it would not be. */
    refusal: refusal.nullable(),
    /** The same for showing secrets. */
    reveal_refusal: refusal.nullable(),
    /** True in a session that a recovery code opened. */
    is_recovered: z.boolean(),
    hold_until: z.string().nullable(),
    /** Changes that take effect with the end of the hold. */
    pending_password: z.boolean(),
    pending_passkey_removal: z.boolean(),
    /** Change of the mail address; its time is null until the code was entered. */
    mail_change: z.object({ email: z.string(), takes_effect_at: z.string().nullable() }).nullable(),
    recovery_codes_left: z.number(),
    passkeys: z.array(
      z.object({
        id: z.string(),
        label: z.string(),
        transports: z.array(z.string()),
        created_at: z.string(),
        last_used_at: z.string().nullable(),
      }),
    ),
    sign_ins: z.array(
      z.object({
        id: z.string(),
        is_this: z.boolean(),
        is_live: z.boolean(),
        signed_in_with: z.string(),
        signed_in_at: z.string(),
        last_seen_at: z.string(),
        user_agent: z.string(),
        client: z.string(),
      }),
    ),
  }),
})

/** Ways in which the owner can sign in, and the sessions of the account. */
export type Security = z.output<typeof securityRow>['security']
/** Session of the account. */
export type SignIn = Security['sign_ins'][number]

/** Reads how the owner can sign in, and where it did. */
export async function readSecurity(c: PageContext): Promise<Security> {
  const row = await (await requireOwner(c)).db.one('owner_security', {}, securityRow)
  // An account that an operator opened has no owner, so nobody can have a session in it.
  if (!row) throw new Error('a session has no owner')
  return row.security
}

/** Redirects to the page for a proof, or of the hold, if the form of this page would be refused; else undefined. */
export function proofFirst(c: PageContext, security: Security): Response | undefined {
  if (security.refusal === null || c.req.method !== 'GET') return undefined
  if (security.refusal === 'account_on_hold') return goTo(c, '/hold')
  return goTo(c, `/proof?next=${encodeURIComponent(c.req.path)}`)
}

/** Gives a browser a form token if it has none. */
export const keepFormToken: MiddlewareHandler<WebEnv> = async (c, next) => {
  const known = formTokenOf(c.req.raw.headers)
  const token = known ?? toHex(c.get('world').randomBytes(32).buffer)
  c.set('formToken', token)
  if (known === undefined) {
    setCookie(c, 'aoa_form', token, { ...hostCookie, httpOnly: true, sameSite: 'Lax' })
  }
  await next()
}

/** Refuses a form that is not from our own pages, before anything else is done with it. */
export const requireOwnForm: MiddlewareHandler<WebEnv> = async (c, next) => {
  const { headers } = c.req.raw
  const [type] = (headers.get('content-type') ?? '').split(';')
  const isForm = type?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  const form = isForm ? formFieldsIn(await c.req.text()).get('form') : null
  const [token = '', account] = form?.split('.') ?? []
  if (!isOwnForm(headers, c.get('world').config.WEB_URL, token)) {
    throw new Rejection(fail('foreign_form'))
  }
  c.set('formToken', token)
  if (account !== undefined) c.set('formAccount', account)
  await next()
}
