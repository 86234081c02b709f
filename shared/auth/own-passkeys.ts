/** The owner's passkeys: added after a proof or a recovery, renamed, removed. */
import * as z from 'zod'
import { newPasskey, passkeyRemoved, passkeysLost } from '../mail/access-messages.ts'
import type { OwnSession } from './own-session.ts'
import { notice } from './own-session.ts'
import { verifyRegistration } from './passkey.ts'
import type { Registration } from './passkey-answer.ts'
import { challengeOf } from './passkey-answer.ts'
import { creationOptions, newChallenge } from './passkey-options.ts'

/** Options for a new passkey; an authenticator that holds one of the known ones makes no other. */
export async function beginPasskey(
  { world, db, account }: OwnSession,
  owner: { email: string; passkeys: readonly { id: string; transports: readonly string[] }[] },
) {
  const challenge = newChallenge(world)
  await db.run('owner_begin_ceremony', { challenge, purpose: 'register' })
  return creationOptions(world, challenge, { account: account.id, ...owner })
}

/** Whether the passkey is good and was added. */
export async function addPasskey(
  session: OwnSession,
  answer: Registration,
  label: string,
): Promise<boolean> {
  const { world, db } = session
  const challenge = challengeOf(answer)
  const taken = await db.one(
    'owner_take_ceremony',
    { challenge, purpose: 'register' },
    z.object({}),
  )
  const passkey = taken && (await verifyRegistration(world, answer, challenge))
  if (!passkey) return false
  const { id, ...key } = passkey
  const mail = await notice(session, (url, deed) => newPasskey(url, { ...deed, label }))
  const args = { passkey: id, ...key, label, mail }
  return (await db.one('owner_add_passkey', args, z.object({ added: z.boolean() }))) !== undefined
}

/** `last` when nothing else would be left to sign in with. */
export async function removePasskey(session: OwnSession, passkey: { id: string; label: string }) {
  const { id, label } = passkey
  const mail = await notice(session, (url, deed) => passkeyRemoved(url, { ...deed, label }))
  const row = z.object({ outcome: z.enum(['removed', 'missing', 'last']) })
  const done = await session.db.one('owner_remove_passkey', { passkey: id, mail }, row)
  return done?.outcome ?? 'missing'
}

/** Gives all passkeys up for lost, for who came in by a recovery code. */
export async function losePasskeys(session: OwnSession): Promise<void> {
  const mail = await notice(session, passkeysLost)
  await session.db.run('owner_lose_passkeys', { mail })
}
