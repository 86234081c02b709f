/**
 * The owner's passkeys: adds, renames and removes them. Adding needs a fresh proof; the database refuses it
 * while the account is on hold.
 */
import * as z from 'zod'
import { newPasskey, passkeyRemovalBegun, passkeyRemoved } from '../mail/access-messages.ts'
import type { OwnerSession } from './own-session.ts'
import { sealSessionNotice } from './own-session.ts'
import { verifyRegistration } from './passkey.ts'
import type { PasskeyRegistration } from './passkey-answer.ts'
import { claimedChallenge } from './passkey-answer.ts'
import { creationOptions, newChallenge } from './passkey-options.ts'

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
