/**
 * A proof within a session that it is still the owner who sits there. It gives the session another
 * id, so that one which leaked before widens nothing; what is answered is the new token.
 */
import * as z from 'zod'
import { newSession, openedRow, tokenOf } from './new-session.ts'
import type { OwnSession } from './own-session.ts'
import { passkeyRow, verifyAssertion } from './passkey.ts'
import type { Assertion } from './passkey-answer.ts'
import { challengeOf } from './passkey-answer.ts'
import { newChallenge, requestOptions } from './passkey-options.ts'
import { verifyPassword } from './password.ts'

/** The new token, or undefined when the password is wrong. */
export async function proveWithPassword({ world, db }: OwnSession, password: string) {
  const row = z.object({ password_hash: z.string().nullable() })
  const found = await db.one('owner_find_password', {}, row)
  const stored = found?.password_hash ?? undefined
  const verdict = verifyPassword(world, password, stored)
  if (stored === undefined || verdict === 'wrong') return undefined
  const { sid, session_digest } = await newSession(world)
  const proven = await db.one('owner_prove', { password_hash: stored, session_digest }, openedRow)
  return tokenOf(world, sid, proven)
}

/** Options for a passkey to prove with. */
export async function beginPasskeyProof({ world, db }: OwnSession) {
  const challenge = newChallenge(world)
  await db.run('owner_begin_ceremony', { challenge, purpose: 'prove' })
  return requestOptions(world, challenge)
}

/** The new token, or undefined when the passkey or its answer is not good. */
export async function proveWithPasskey({ world, db }: OwnSession, answer: Assertion) {
  const challenge = challengeOf(answer)
  const asked = { challenge, purpose: 'prove', passkey: answer.id }
  const taken = await db.one('owner_take_ceremony', asked, z.unknown())
  const known = passkeyRow.safeParse(taken).data
  if (!known) return undefined
  const counter_now = await verifyAssertion(world, answer, challenge, { id: answer.id, ...known })
  if (counter_now === undefined) return undefined
  const { sid, session_digest } = await newSession(world)
  const counted = { passkey: answer.id, counter_seen: known.counter, counter_now }
  const args = { ...counted, session_digest }
  return tokenOf(world, sid, await db.one('owner_prove_with_passkey', args, openedRow))
}
