/**
 * Signing in with a passkey and nothing else. The challenge is given to one browser, and only that
 * browser can answer it, once.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { newSignIn } from '../mail/access-messages.ts'
import { sealMail } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import type { Browser } from './new-session.ts'
import { browserArgs, deedOf, newSession, openedRow, tokenOf } from './new-session.ts'
import { isOfAccount, passkeyRow, verifyAssertion } from './passkey.ts'
import type { Assertion } from './passkey-answer.ts'
import { challengeOf } from './passkey-answer.ts'
import { requestOptions } from './passkey-options.ts'
import { isSignInChallenge, newSignInChallenge } from './sign-in-challenge.ts'

const foundRow = passkeyRow.extend({ account_found: z.string() })

/** Options for a passkey to sign in with; `holder` is a secret of the browser that must answer. */
export async function beginPasskeySignIn(world: World, holder: string) {
  return requestOptions(world, await newSignInChallenge(world, holder))
}

/** The token of a new session, or undefined when the passkey or its answer is not good. */
export async function signInWithPasskey(
  world: World,
  answer: Assertion,
  holder: string,
  browser: Browser,
): Promise<string | undefined> {
  const db = unbound(world.db)
  const challenge = challengeOf(answer)
  if (!(await isSignInChallenge(world, challenge, holder))) return undefined
  const passkey = await db.one('login_find_passkey', { passkey: answer.id }, foundRow)
  if (!passkey || !isOfAccount(answer, passkey.account_found)) return undefined
  const known = { id: answer.id, ...passkey }
  const counter_now = await verifyAssertion(world, answer, challenge, known)
  if (counter_now === undefined) return undefined
  const deed = { ...deedOf(world, browser), method: 'Passkey' }
  const mail = await sealMail(world, newSignIn(world.config.WEB_URL, deed))
  const { sid, session_digest } = await newSession(world)
  const counted = { passkey: answer.id, counter_seen: passkey.counter, counter_now }
  const args = { ...counted, challenge, session_digest, ...browserArgs(browser), mail }
  return tokenOf(world, sid, await db.one('login_with_passkey', args, openedRow))
}
