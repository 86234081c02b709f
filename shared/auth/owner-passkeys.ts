/**
 * The owner's passkeys: adds, renames and removes them. Adding needs a fresh proof; the database refuses it
 * while the account is on hold.
 */
import * as z from 'zod'
import { encodeForUrl } from '../base64.ts'
import { faultOfAssertion, relyingPartyOf } from '../consent/assertion.ts'
import type { CallerDatabase } from '../db/database.ts'
import { fromHex } from '../digest.ts'
import { newPasskey, passkeyRemovalBegun, passkeyRemoved } from '../mail/access-messages.ts'
import type { World } from '../world.ts'
import { type OwnerSession, sealSessionNotice } from './new-session.ts'
import {
  claimedChallenge,
  creationOptions,
  isOfAccount,
  newChallenge,
  type PasskeyRegistration,
  passkeyRow,
  readAssertion,
  verifyAssertion,
  verifyRegistration,
} from './passkey.ts'

/** Returns options for a new passkey; an authenticator that holds a known one makes no other. */
export async function beginPasskey(
  { world, db, account }: OwnerSession,
  owner: { email: string; passkeys: readonly { id: string; transports: readonly string[] }[] },
) {
  const challenge = newChallenge(world)
  await db.run('owner_begin_ceremony', { challenge, purpose: 'register' })
  return creationOptions(world, challenge, { account: account.id, ...owner })
}

/** Verifies and adds a passkey; returns true if it was added. */
export async function addPasskey(
  session: OwnerSession,
  answer: PasskeyRegistration,
  label: string,
): Promise<boolean> {
  const { world, db } = session
  const challenge = claimedChallenge(answer)
  const taken = await db.one(
    'owner_take_ceremony',
    { challenge, purpose: 'register' },
    z.object({}),
  )
  const passkey = taken && (await verifyRegistration(world, answer, challenge))
  if (!passkey) return false
  const { id, ...key } = passkey
  const mail = await sealSessionNotice(session, (url, deed) => newPasskey(url, { ...deed, label }))
  const args = { passkey: id, ...key, label, mail }
  return (await db.one('owner_add_passkey', args, z.object({ added: z.boolean() }))) !== undefined
}

/**
 * Removes a passkey. Returns `last` if the owner could not sign in without it, and `held` if it is removed with the end
 * of a hold, because it is the only one.
 */
export async function removePasskey(
  session: OwnerSession,
  { id, label, isLast }: { id: string; label: string; isLast: boolean },
) {
  const notice = isLast ? passkeyRemovalBegun : passkeyRemoved
  const mail = await sealSessionNotice(session, (url, deed) => notice(url, { ...deed, label }))
  const row = z.object({ outcome: z.enum(['removed', 'held', 'missing', 'last']) })
  const done = await session.db.one('owner_remove_passkey', { passkey: id, mail }, row)
  return done?.outcome ?? 'missing'
}

type Session = { world: World; db: CallerDatabase; account: { id: string } }

/**
 * Verifies the assertion that a form carried and returns it as the argument `assertion` of the owner's SQL
 * functions. Returns undefined if it is not a valid assertion by this owner's passkey over this digest.
 */
export async function consentByPasskey(
  { world, db, account }: Session,
  answerText: string,
  digest: string,
) {
  const answer = readAssertion(answerText)
  if (!answer || !isOfAccount(answer, account.id) || !/^[0-9a-f]{64}$/.test(digest)) {
    return undefined
  }
  const passkey = await db.one('owner_find_passkey', { passkey: answer.id }, passkeyRow)
  if (!passkey) return undefined
  const known = { id: answer.id, ...passkey }
  const challenge = encodeForUrl(fromHex(digest))
  const counter_now = await verifyAssertion(world, answer, challenge, known)
  const { clientDataJSON, authenticatorData, signature } = answer.response
  const signed = {
    client_data: clientDataJSON,
    authenticator_data: authenticatorData,
    signature,
  }
  const fault = await faultOfAssertion(
    { public_key: passkey.public_key, ...signed },
    { digest, ...relyingPartyOf(world.config.WEB_URL) },
  )
  if (counter_now === undefined || fault !== undefined) return undefined
  return { passkey: answer.id, counter_seen: passkey.counter, counter_now, ...signed }
}
