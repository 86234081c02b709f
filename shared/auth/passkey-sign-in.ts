/**
 * Signing in with a passkey and nothing else. The challenge is given to one browser, and only that
 * browser can answer it, once.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { required } from '../env.ts'
import { newSignIn } from '../mail/access-messages.ts'
import { sealMail } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'
import type { Browser } from './new-session.ts'
import { browserArgs, deedOf, newSession, openedRow, tokenOf } from './new-session.ts'
import { isOfAccount, passkeyRow, verifyAssertion } from './passkey.ts'
import type { Assertion } from './passkey-answer.ts'
import { challengeOf } from './passkey-answer.ts'
import { newChallenge, requestOptions } from './passkey-options.ts'

const foundRow = passkeyRow.extend({ account_found: z.string() })

/** Options for a passkey to sign in with; `holder` is a secret of the browser that must answer. */
export async function beginPasskeySignIn(world: World, holder: string, client: string) {
  const challenge = newChallenge(world)
  const browser = await holderDigest(world, holder)
  await unbound(world.db).run('login_begin_passkey', { challenge, browser, client })
  return requestOptions(world, challenge)
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
  const taken = { challenge, browser: await holderDigest(world, holder), passkey: answer.id }
  const passkey = await db.one('login_take_passkey', taken, foundRow)
  if (!passkey || !isOfAccount(answer, passkey.account_found)) return undefined
  const known = { id: answer.id, ...passkey }
  const counter_now = await verifyAssertion(world, answer, challenge, known)
  if (counter_now === undefined) return undefined
  const deed = { ...deedOf(world, browser), method: 'Passkey' }
  const mail = await sealMail(world, newSignIn(world.config.WEB_URL, deed))
  const { sid, session_digest } = await newSession(world)
  const counted = { passkey: answer.id, counter_seen: passkey.counter, counter_now }
  const args = { ...counted, session_digest, ...browserArgs(browser), mail }
  return tokenOf(world, sid, await db.one('login_with_passkey', args, openedRow))
}

/** The database learns nothing by which it could answer in the browser's place. */
function holderDigest(world: World, holder: string): Promise<string> {
  return credentialOf(`ceremony ${holder}`, required(world.config, 'API_KEY_PEPPER'))
}
