/**
 * The ways into an account: password, passkey, recovery code. Each opens a new session and never
 * continues one. Whether a name is unknown, has no password or the password is wrong makes no
 * difference to the answer or to the work behind it.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { required } from '../env.ts'
import { newSignIn, recoveryUsed } from '../mail/access-messages.ts'
import { sealMail } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'
import type { Assertion } from './passkey.ts'
import {
  challengeOf,
  isOfAccount,
  newChallenge,
  requestOptions,
  verifyAssertion,
} from './passkey.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { recoveryDigest } from './recovery-code.ts'
import { newSessionId, openSessionToken } from './session.ts'

/** The browser that signs in. */
export type Browser = { userAgent: string; client: string }

const openedRow = z.object({ account_opened: z.string(), expires_at: z.string() })

/** The one spelling of a mail address: it names one owner. */
export function canonicalEmail(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** The token of a new session, or undefined when name and password do not belong together. */
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
  const session = await newSession(world, browser)
  const mail = await noticeOf(world, browser, 'password')
  const args = { email, ...found, ...session.args, rehashed, mail }
  return tokenOf(world, session.sid, await db.one('login_with_password', args, openedRow))
}

/** The token of a new session, or undefined when the code is not one of this owner's or was used. */
export async function signInWithRecoveryCode(
  world: World,
  given: { email: string; code: string },
  browser: Browser,
): Promise<string | undefined> {
  const email = canonicalEmail(given.email)
  const code_digest = await recoveryDigest(world, given.code)
  const session = await newSession(world, browser)
  const deed = deedOf(world, browser)
  const mail = await sealMail(world, recoveryUsed(world.config.WEB_URL, deed))
  const args = { email, code_digest, ...session.args, mail }
  const opened = await unbound(world.db).one('login_with_code', args, openedRow)
  return tokenOf(world, session.sid, opened)
}

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
  const passkey = await db.one('login_take_passkey', taken, passkeyRow)
  if (!passkey || !isOfAccount(answer, passkey.account_found)) return undefined
  const known = { id: answer.id, ...passkey }
  const counter_now = await verifyAssertion(world, answer, challenge, known)
  if (counter_now === undefined) return undefined
  const session = await newSession(world, browser)
  const mail = await noticeOf(world, browser, 'passkey')
  const counted = { passkey: answer.id, counter_seen: passkey.counter, counter_now }
  const args = { ...counted, ...session.args, mail }
  return tokenOf(world, session.sid, await db.one('login_with_passkey', args, openedRow))
}

const passkeyRow = z.object({
  account_found: z.string(),
  public_key: z.string(),
  counter: z.string(),
  transports: z.array(z.string()),
})

async function newSession(world: World, { userAgent, client }: Browser) {
  const sid = newSessionId(world)
  const session_digest = await credentialOf(sid, required(world.config, 'API_KEY_PEPPER'))
  return { sid, args: { session_digest, user_agent: userAgent.slice(0, 256), client } }
}

function tokenOf(world: World, sid: string, opened: z.output<typeof openedRow> | undefined) {
  return (
    opened &&
    openSessionToken(world, {
      sid,
      account: opened.account_opened,
      expiresAt: new Date(opened.expires_at),
    })
  )
}

/** The database learns nothing by which it could answer in the browser's place. */
function holderDigest(world: World, holder: string): Promise<string> {
  return credentialOf(`ceremony ${holder}`, required(world.config, 'API_KEY_PEPPER'))
}

function deedOf(world: World, { userAgent, client }: Browser) {
  return { at: world.now(), device: userAgent, client }
}

function noticeOf(world: World, browser: Browser, method: string) {
  return sealMail(world, newSignIn(world.config.WEB_URL, { ...deedOf(world, browser), method }))
}
