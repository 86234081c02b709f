/** The session of a visitor as the rules of signing in want it. */
import * as z from 'zod'
import type { Browser } from '../../shared/auth/new-session.ts'
import type { OwnSession } from '../../shared/auth/own-session.ts'
import { notice } from '../../shared/auth/own-session.ts'
import { clientOf } from '../../shared/http/caller.ts'
import { goTo, owner } from './frame.ts'
import { endSession, keepSession } from './session-cookie.ts'
import { forgetTyped } from './typed.ts'
import type { Visit } from './visit.ts'

/** The browser that asks; some, such as those inside other apps, have a name longer than is kept. */
export function browserOf(c: Visit): Browser {
  const { headers } = c.req.raw
  const userAgent = (headers.get('user-agent') ?? '').slice(0, 256)
  return { userAgent, client: clientOf(c.get('world').config, headers) }
}

/** The owner who is signed in, with the browser that it uses. */
export async function ownSession(c: Visit): Promise<OwnSession> {
  const { db, account } = await owner(c)
  return { world: c.get('world'), db, account, browser: browserOf(c) }
}

/** A mail to the owner about what this form does, for the SQL function that does it. */
export async function noticeOf(c: Visit, message: Parameters<typeof notice>[1]) {
  return notice(await ownSession(c), message)
}

/** Goes on with the new token of a session. */
export function enter(c: Visit, token: string, way: string): Response {
  keepSession(c, token)
  return goTo(c, way)
}

/** Who signs in goes on in the new session alone: the one that the browser had is over. */
export async function signIn(c: Visit, token: string, way: string): Promise<Response> {
  await endSession(c)
  forgetTyped(c)
  return enter(c, token, way)
}

const securityRow = z.object({
  security: z.object({
    email: z.string(),
    has_password: z.boolean(),
    is_proven: z.boolean(),
    is_fresh: z.boolean(),
    is_recovered: z.boolean(),
    needs_passkey: z.boolean(),
    passkeys_lost_at: z.string().nullable(),
    guarded_until: z.string().nullable(),
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

export type Security = z.output<typeof securityRow>['security']
export type SignIn = Security['sign_ins'][number]

/** How the owner can sign in, and where it did. */
export async function readSecurity(c: Visit): Promise<Security> {
  const row = await (await owner(c)).db.one('owner_security', {}, securityRow)
  // An account that an operator opened has nobody who could have signed in.
  if (!row) throw new Error('a session has no owner')
  return row.security
}

/** The way to a proof, for a page whose form would be refused without one; else undefined. */
export function proofFirst(c: Visit, { is_proven }: Security): Response | undefined {
  if (is_proven || c.req.method !== 'GET') return undefined
  return goTo(c, `/proof?next=${encodeURIComponent(c.req.path)}`)
}
