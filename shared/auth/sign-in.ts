/**
 * Sign-in by mail address, with a password or a recovery code. The answer and its time are the same for an
 * unknown address, an account without a password and a wrong password.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { newSignIn, recoveryUsed } from '../mail/access-messages.ts'
import { canonicalEmail } from '../mail/address.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import type { Browser } from './new-session.ts'
import {
  browserArgs,
  newSession,
  openedRow,
  securityEventOf,
  sessionTokenOf,
} from './new-session.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { recoveryDigest } from './recovery-code.ts'

/** Returns the token of a new session; undefined if address and password do not match. */
export async function signInWithPassword(
  world: World,
  given: { email: string; password: string },
  browser: Browser,
): Promise<string | undefined> {
  const db = unbound(world.db)
  const email = canonicalEmail(given.email)
  const hashRow = z.object({ password_hash: z.string() })
  const found = await db.one('login_find', { email, client: browser.client }, hashRow)
  const verdict = verifyPassword(world, given.password, found?.password_hash)
  if (!found || verdict === 'wrong') return undefined
  const rehashed = verdict === 'stale' ? hashPassword(world, given.password) : null
  const deed = { ...securityEventOf(world, browser), method: 'Password' }
  const mail = await sealForOutbox(world, newSignIn(world.config.WEB_URL, deed))
  const { sid, session_digest } = await newSession(world)
  const args = {
    email,
    ...found,
    session_digest,
    ...(await browserArgs(world, browser)),
    rehashed,
    mail,
  }
  return sessionTokenOf(world, sid, await db.one('login_with_password', args, openedRow))
}

/** Returns the token of a new session; undefined if the code is not this owner's or was used. */
export async function signInWithRecoveryCode(
  world: World,
  given: { email: string; code: string },
  browser: Browser,
): Promise<string | undefined> {
  const email = canonicalEmail(given.email)
  const code_digest = await recoveryDigest(world, given.code)
  const mail = await sealForOutbox(
    world,
    recoveryUsed(world.config.WEB_URL, securityEventOf(world, browser)),
  )
  const { sid, session_digest } = await newSession(world)
  const args = { email, code_digest, session_digest, ...(await browserArgs(world, browser)), mail }
  const opened = await unbound(world.db).one('login_with_code', args, openedRow)
  return sessionTokenOf(world, sid, opened)
}
