/**
 * Sign-in with a passkey alone. A challenge belongs to one browser; only that browser can answer it, and
 * only once.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { newSignIn } from '../mail/access-messages.ts'
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
import { isOfAccount, passkeyRow, verifyAssertion } from './passkey.ts'
import type { Assertion } from './passkey-answer.ts'
import { claimedChallenge } from './passkey-answer.ts'
import { requestOptions } from './passkey-options.ts'
import { isSignInChallenge, newSignInChallenge } from './sign-in-challenge.ts'

const foundRow = passkeyRow.extend({ account_found: z.string() })

/** Returns options to sign in with a passkey; `holder` is a secret of the browser that must answer. */
export async function beginPasskeySignIn(world: World, holder: string) {
  return requestOptions(world, await newSignInChallenge(world, holder))
}

/** Returns the token of a new session; undefined if the passkey or its answer is not valid. */
export async function signInWithPasskey(
  world: World,
  answer: Assertion,
  holder: string,
  browser: Browser,
): Promise<string | undefined> {
  const db = unbound(world.db)
  const challenge = claimedChallenge(answer)
  if (!(await isSignInChallenge(world, challenge, holder))) return undefined
  const passkey = await db.one('login_find_passkey', { passkey: answer.id }, foundRow)
  if (!passkey || !isOfAccount(answer, passkey.account_found)) return undefined
  const known = { id: answer.id, ...passkey }
  const counter_now = await verifyAssertion(world, answer, challenge, known)
  if (counter_now === undefined) return undefined
  const deed = { ...securityEventOf(world, browser), method: 'Passkey' }
  const mail = await sealForOutbox(world, newSignIn(world.config.WEB_URL, deed))
  const { sid, session_digest } = await newSession(world)
  const counted = { passkey: answer.id, counter_seen: passkey.counter, counter_now }
  const args = {
    ...counted,
    challenge,
    session_digest,
    ...(await browserArgs(world, browser)),
    mail,
  }
  return sessionTokenOf(world, sid, await db.one('login_with_passkey', args, openedRow))
}
