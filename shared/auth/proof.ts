/**
 * What the owner does in a session about how it signs in: proves itself again, and sets password,
 * passkeys and recovery codes. A proof gives the session another id, so that one which leaked before
 * widens nothing; each answers the new token.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import { required } from '../env.ts'
import {
  newPasskey,
  passkeyRemoved,
  passwordChanged,
  recoveryCodesMade,
} from '../mail/access-messages.ts'
import type { Message } from '../mail/letter.ts'
import { sealMail } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'
import type { Assertion, Registration } from './passkey.ts'
import {
  challengeOf,
  creationOptions,
  newChallenge,
  requestOptions,
  verifyAssertion,
  verifyRegistration,
} from './passkey.ts'
import type { PasswordProblem } from './password.ts'
import { checkPassword, hashPassword, verifyPassword } from './password.ts'
import { newRecoveryCodes, recoveryDigest } from './recovery-code.ts'
import { newSessionId, openSessionToken } from './session.ts'
import type { Browser } from './sign-in.ts'

/** The owner in its session. */
export type Session = {
  world: World
  db: CallerDatabase
  account: { id: string; alias: string }
  browser: Browser
}

const endRow = z.object({ expires_at: z.string() })
const passkeyRow = z.object({
  public_key: z.string().nullable(),
  counter: z.string().nullable(),
  transports: z.array(z.string()).nullable(),
})

/** The new token, or undefined when the password is wrong. */
export async function proveWithPassword(session: Session, password: string) {
  const { world, db } = session
  const row = z.object({ password_hash: z.string().nullable() })
  const found = await db.one('owner_find_password', {}, row)
  const stored = found?.password_hash ?? undefined
  const verdict = verifyPassword(world, password, stored)
  if (stored === undefined || verdict === 'wrong') return undefined
  const { sid, session_digest } = await nextId(world)
  const proven = await db.one('owner_prove', { password_hash: stored, session_digest }, endRow)
  return proven && tokenOf(session, sid, proven)
}

/** Options for a passkey to prove with. */
export async function beginPasskeyProof({ world, db }: Session) {
  const challenge = newChallenge(world)
  await db.run('owner_begin_ceremony', { challenge, purpose: 'prove' })
  return requestOptions(world, challenge)
}

/** The new token, or undefined when the passkey or its answer is not good. */
export async function proveWithPasskey(session: Session, answer: Assertion) {
  const { world, db } = session
  const challenge = challengeOf(answer)
  const asked = { challenge, purpose: 'prove', passkey: answer.id }
  const found = await db.one('owner_take_ceremony', asked, passkeyRow)
  if (!found?.public_key || found.counter === null) return undefined
  const { public_key, counter, transports } = found
  const passkey = { id: answer.id, public_key, counter, transports: transports ?? [] }
  const counter_now = await verifyAssertion(world, answer, challenge, passkey)
  if (counter_now === undefined) return undefined
  const { sid, session_digest } = await nextId(world)
  const counted = { passkey: answer.id, counter_seen: counter, counter_now }
  const proven = await db.one('owner_prove_with_passkey', { ...counted, session_digest }, endRow)
  return proven && tokenOf(session, sid, proven)
}

/** Options for a new passkey; those that the owner has are left out by the authenticator. */
export async function beginPasskey(
  { world, db, account }: Session,
  owner: { email: string; passkeys: readonly { id: string; transports: string[] }[] },
) {
  const challenge = newChallenge(world)
  await db.run('owner_begin_ceremony', { challenge, purpose: 'register' })
  return creationOptions(world, challenge, { account: account.id, ...owner })
}

/** Whether the passkey was added. */
export async function addPasskey(
  session: Session,
  answer: Registration,
  label: string,
): Promise<boolean> {
  const { world, db } = session
  const challenge = challengeOf(answer)
  const asked = { challenge, purpose: 'register' }
  if (!(await db.one('owner_take_ceremony', asked, passkeyRow))) return false
  const passkey = await verifyRegistration(world, answer, challenge)
  if (!passkey) return false
  const { id, ...key } = passkey
  const mail = await notice(session, (url, deed) => newPasskey(url, { ...deed, label }))
  const args = { passkey: id, ...key, label, mail }
  const added = await db.one('owner_add_passkey', args, z.object({ added: z.boolean() }))
  return added !== undefined
}

/** `last` when nothing else would be left to sign in with. */
export async function removePasskey(session: Session, passkey: { id: string; label: string }) {
  const { id, label } = passkey
  const mail = await notice(session, (url, deed) => passkeyRemoved(url, { ...deed, label }))
  const row = z.object({ outcome: z.enum(['removed', 'missing', 'last']) })
  const done = await session.db.one('owner_remove_passkey', { passkey: id, mail }, row)
  return done?.outcome ?? 'missing'
}

/** Sets the password and ends all other sessions; a problem when it cannot be one. */
export async function setPassword(
  session: Session,
  password: string,
  email: string,
): Promise<{ problem: PasswordProblem } | { token: string }> {
  const { world, db, account } = session
  const problem = checkPassword(password, { email, alias: account.alias })
  if (problem) return { problem }
  const { sid, session_digest } = await nextId(world)
  const mail = await notice(session, passwordChanged)
  const password_hash = hashPassword(world, password)
  const set = await db.one('owner_set_password', { password_hash, session_digest, mail }, endRow)
  if (!set) throw new Error('a password that was set opens no session')
  return { token: await tokenOf(session, sid, set) }
}

/** New recovery codes in place of all older ones; this is the only time that they are seen. */
export async function makeRecoveryCodes(session: Session): Promise<string[]> {
  const { world, db } = session
  const codes = newRecoveryCodes(world)
  const digests = await Promise.all(codes.map((code) => recoveryDigest(world, code)))
  const mail = await notice(session, recoveryCodesMade)
  await db.run('owner_set_recovery_codes', { digests, mail })
  return codes
}

async function nextId(world: World) {
  const sid = newSessionId(world)
  const session_digest = await credentialOf(sid, required(world.config, 'API_KEY_PEPPER'))
  return { sid, session_digest }
}

function tokenOf({ world, account }: Session, sid: string, end: z.output<typeof endRow>) {
  const expiresAt = new Date(end.expires_at)
  return openSessionToken(world, { sid, account: account.id, expiresAt })
}

function notice(
  { world, browser }: Session,
  message: (webUrl: string, deed: { at: Date; device: string; client: string }) => Message,
) {
  const deed = { at: world.now(), device: browser.userAgent, client: browser.client }
  return sealMail(world, message(world.config.WEB_URL, deed))
}
