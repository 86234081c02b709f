/**
 * Signing in by mail address, with a password or a recovery code. Whether the address is unknown, has
 * no password, or the password is wrong makes no difference to the answer or to the work behind it.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { newSignIn, recoveryUsed } from '../mail/access-messages.ts'
import { canonicalEmail } from '../mail/address.ts'
import { sealMail } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import type { Browser } from './new-session.ts'
import { browserArgs, deedOf, newSession, openedRow, tokenOf } from './new-session.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { withWork } from './proof-of-work.ts'
import { recoveryDigest } from './recovery-code.ts'

/** The token of a new session, or undefined when name and password do not belong together. */
export async function signInWithPassword(
  world: World,
  given: { email: string; password: string; solution?: string | undefined },
  browser: Browser,
): Promise<string | undefined> {
  const db = unbound(world.db)
  const email = canonicalEmail(given.email)
  const hashRow = z.object({ password_hash: z.string() })
  const { solution } = given
  const found = await withWork(world, { purpose: 'sign-in', solution }, (work) =>
    db.one('login_find', { email, client: browser.client, work }, hashRow),
  )
  const verdict = verifyPassword(world, given.password, found?.password_hash)
  if (!found || verdict === 'wrong') return undefined
  const rehashed = verdict === 'stale' ? hashPassword(world, given.password) : null
  const deed = { ...deedOf(world, browser), method: 'Password' }
  const mail = await sealMail(world, newSignIn(world.config.WEB_URL, deed))
  const { sid, session_digest } = await newSession(world)
  const args = { email, ...found, session_digest, ...browserArgs(browser), rehashed, mail }
  return tokenOf(world, sid, await db.one('login_with_password', args, openedRow))
}

/** The token of a new session, or undefined when the code is not one of this owner's or was used. */
export async function signInWithRecoveryCode(
  world: World,
  given: { email: string; code: string; solution?: string | undefined },
  browser: Browser,
): Promise<string | undefined> {
  const email = canonicalEmail(given.email)
  const code_digest = await recoveryDigest(world, given.code)
  const mail = await sealMail(world, recoveryUsed(world.config.WEB_URL, deedOf(world, browser)))
  const { sid, session_digest } = await newSession(world)
  const args = { email, code_digest, session_digest, ...browserArgs(browser), mail }
  const { solution } = given
  const opened = await withWork(world, { purpose: 'sign-in', solution }, (work) =>
    unbound(world.db).one('login_with_code', { ...args, work }, openedRow),
  )
  return tokenOf(world, sid, opened)
}
