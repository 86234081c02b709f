/**
 * Proofs within a session that the owner is still present. A proof gives the session a new id, so an id
 * that leaked before cannot use the proof. The functions return the new token.
 */
import * as z from 'zod'
import { newSession, type OwnerSession, openedRow, sessionTokenOf } from './new-session.ts'
import {
  type Assertion,
  claimedChallenge,
  newChallenge,
  passkeyRow,
  requestOptions,
  verifyAssertion,
} from './passkey.ts'
import { verifyPassword } from './password.ts'

/** Row with the stored password of the owner; null for one who only has passkeys. */
export const passwordRow = z.object({ password_hash: z.string().nullable() })

async function findPassword({ db }: Pick<OwnerSession, 'db'>): Promise<string | undefined> {
  const found = await db.one('owner_find_password', {}, passwordRow)
  return found?.password_hash ?? undefined
}

/** Returns the new token; undefined if the password is wrong. */
export async function proveWithPassword({ world, db }: OwnerSession, password: string) {
  const stored = await findPassword({ db })
  const verdict = verifyPassword(world, password, stored)
  if (stored === undefined || verdict === 'wrong') return undefined
  const { sid, session_digest } = await newSession(world)
  const proven = await db.one('owner_prove', { password_hash: stored, session_digest }, openedRow)
  return sessionTokenOf(world, sid, proven)
}

/** Returns options for a proof by passkey. */
export async function beginPasskeyProof({ world, db }: OwnerSession) {
  const challenge = newChallenge(world)
  await db.run('owner_begin_ceremony', { challenge, purpose: 'prove' })
  return requestOptions(world, challenge)
}

/** Returns the new token; undefined if the passkey or its answer is not valid. */
export async function proveWithPasskey({ world, db }: OwnerSession, answer: Assertion) {
  const challenge = claimedChallenge(answer)
  const asked = { challenge, purpose: 'prove', passkey: answer.id }
  const taken = await db.one('owner_take_ceremony', asked, z.unknown())
  const known = passkeyRow.safeParse(taken).data
  if (!known) return undefined
  const counter_now = await verifyAssertion(world, answer, challenge, { id: answer.id, ...known })
  if (counter_now === undefined) return undefined
  const { sid, session_digest } = await newSession(world)
  const counted = { passkey: answer.id, counter_seen: known.counter, counter_now }
  const args = { ...counted, session_digest }
  return sessionTokenOf(world, sid, await db.one('owner_prove_with_passkey', args, openedRow))
}
