/**
 * Sign-in by mail address, with a password, a passkey or a recovery code. The answer and its time are the same
 * for an unknown address, an account without a password and a wrong password.
 */
import * as z from 'zod'
import { decodeBytes, encodeForUrl } from '../base64.ts'
import { unbound } from '../db/database.ts'
import { fromHex } from '../digest.ts'
import { required } from '../env.ts'
import { newSignIn, recoveryUsed } from '../mail/access-messages.ts'
import { canonicalEmail } from '../mail/address.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'
import {
  type Browser,
  browserArgs,
  newSession,
  openedRow,
  securityEventOf,
  sessionTokenOf,
} from './new-session.ts'
import {
  type Assertion,
  claimedChallenge,
  isOfAccount,
  passkeyRow,
  requestOptions,
  verifyAssertion,
} from './passkey.ts'
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

const goodSeconds = 300
const timeBytes = 4
const randomBytes = 12
const boundBytes = timeBytes + randomBytes
const macBytes = 16

/** Makes a challenge for the browser that holds this secret. */
async function newSignInChallenge(world: World, holder: string): Promise<string> {
  const head = new Uint8Array(boundBytes)
  new DataView(head.buffer).setUint32(0, secondsNow(world))
  head.set(world.randomBytes(randomBytes), timeBytes)
  return encodeForUrl(new Uint8Array([...head, ...(await macOf(world, head, holder))]))
}

/** True if the challenge was made here for this browser, at most five minutes ago. */
async function isSignInChallenge(
  world: World,
  challenge: string,
  holder: string,
): Promise<boolean> {
  const bytes = decodeBytes(challenge)
  if (bytes?.length !== boundBytes + macBytes) return false
  const head = bytes.subarray(0, boundBytes)
  const age = secondsNow(world) - new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  // Only one spelling of the bytes is accepted; otherwise a spent challenge could be used again in another.
  if (age > goodSeconds || age < -goodSeconds || encodeForUrl(bytes) !== challenge) return false
  const mac = await macOf(world, head, holder)
  // Compares all bytes without an early exit, so that the time does not show where they differ.
  return (
    mac.reduce((different, byte, at) => different | (byte ^ (bytes[boundBytes + at] ?? 0)), 0) === 0
  )
}

function secondsNow(world: World): number {
  return Math.floor(world.now().getTime() / 1000)
}

async function macOf({ config }: World, head: Uint8Array, holder: string): Promise<Uint8Array> {
  const pepper = required(config, 'API_KEY_PEPPER')
  const mac = await credentialOf(`sign-in challenge ${encodeForUrl(head)} ${holder}`, pepper)
  return fromHex(mac).subarray(0, macBytes)
}
