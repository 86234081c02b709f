/**
 * A session id and the token that carries it. Every way in and every proof makes a new one, so an id
 * that was known before is worth nothing after.
 */
import * as z from 'zod'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'
import { newSessionId, openSessionToken } from './session.ts'

/** The browser that signs in. */
export type Browser = { userAgent: string; client: string }

/** A session that the database has opened. */
export const openedRow = z.object({ account_opened: z.string(), expires_at: z.string() })

/** A session id for the browser alone, and what stands for it in the database. */
export async function newSession(world: World): Promise<{ sid: string; session_digest: string }> {
  const sid = newSessionId(world)
  return { sid, session_digest: await credentialOf(sid, required(world.config, 'API_KEY_PEPPER')) }
}

/** The browser as the database keeps it with a session. */
export function browserArgs({ userAgent, client }: Browser) {
  return { user_agent: userAgent.slice(0, 256), client }
}

/** The token of a session that was opened; undefined where none was. */
export async function tokenOf(
  world: World,
  sid: string,
  opened: z.output<typeof openedRow> | undefined,
): Promise<string | undefined> {
  if (!opened) return undefined
  const expiresAt = new Date(opened.expires_at)
  return openSessionToken(world, { sid, account: opened.account_opened, expiresAt })
}

/** Who did something where and when, for the mail about it. */
export function deedOf(world: World, { userAgent, client }: Browser) {
  return { at: world.now(), device: userAgent, client }
}
