/**
 * Session ids and the tokens that carry them. Each sign-in and each proof makes a new session id, so an id
 * that leaked earlier is worthless afterwards.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import { required } from '../env.ts'
import type { SecurityEvent } from '../mail/deed.ts'
import type { Message } from '../mail/letter.ts'
import { type OutboxMail, sealForOutbox } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'
import { newSessionId, openSessionToken } from './session.ts'

/** The browser that signs in; `token` is the value of a cookie of its own, by which it is recognized when it comes again. */
export type Browser = { userAgent: string; client: string; token?: string }

/** A session that the database has opened. */
export const openedRow = z.object({ account_opened: z.string(), expires_at: z.string() })

/** Makes a session id, which only the browser gets, and the digest that the database stores. */
export async function newSession(world: World): Promise<{ sid: string; session_digest: string }> {
  const sid = newSessionId(world)
  return { sid, session_digest: await credentialOf(sid, required(world.config, 'API_KEY_PEPPER')) }
}

/** Returns the browser as the database stores it with a session. */
export async function browserArgs({ config }: World, { userAgent, client, token }: Browser) {
  const pepper = required(config, 'API_KEY_PEPPER')
  const browser = token === undefined ? null : await credentialOf(`browser ${token}`, pepper)
  return { user_agent: userAgent.slice(0, 256), client, browser }
}

/** Returns the token of an opened session; undefined if no session was opened. */
export async function sessionTokenOf(
  world: World,
  sid: string,
  opened: z.output<typeof openedRow> | undefined,
): Promise<string | undefined> {
  if (!opened) return undefined
  const expiresAt = new Date(opened.expires_at)
  return openSessionToken(world, { sid, account: opened.account_opened, expiresAt })
}

/** Returns when, on which device and from which address something was done, for the mail about it. */
export function securityEventOf(world: World, { userAgent, client }: Browser) {
  return { at: world.now(), device: userAgent, client }
}

/** A session: its database, its account and the browser that uses it. */
export type OwnerSession = {
  world: World
  db: CallerDatabase
  account: { id: string; alias: string }
  browser: Browser
}

/** Seals a mail to the owner about a change made in this session. */
export function sealSessionNotice(
  { world, browser }: OwnerSession,
  message: (webUrl: string, deed: SecurityEvent) => Message,
): Promise<OutboxMail> {
  return sealForOutbox(world, message(world.config.WEB_URL, securityEventOf(world, browser)))
}
