/** The owner's password and recovery codes: set after a proof, the password also after a recovery. */
import { passwordChanged, recoveryCodesMade } from '../mail/access-messages.ts'
import { newSession, openedRow, sessionTokenOf } from './new-session.ts'
import type { OwnerSession } from './own-session.ts'
import { sealSessionNotice } from './own-session.ts'
import type { PasswordProblem } from './password.ts'
import { checkPassword, hashPassword, verifyPassword } from './password.ts'
import { findPassword } from './proof.ts'
import { newRecoveryCodes, recoveryDigest } from './recovery-code.ts'

/** Returns why a text cannot be the owner's next password, which is another than the present one. */
export async function problemWith(
  session: OwnerSession,
  password: string,
  email: string,
): Promise<PasswordProblem | undefined> {
  const problem = checkPassword(password, { email, alias: session.account.alias })
  if (problem) return problem
  const stored = await findPassword(session)
  const isSame = stored !== undefined && verifyPassword(session.world, password, stored) !== 'wrong'
  return isSame ? 'same' : undefined
}

/** Sets the password; ends other sessions, but not after a recovery. Returns this session's new token. */
export async function setPassword(
  session: OwnerSession,
  password: string,
  email: string,
): Promise<{ problem: PasswordProblem } | { token: string | undefined }> {
  const { world, db } = session
  const problem = await problemWith(session, password, email)
  if (problem) return { problem }
  const password_hash = hashPassword(world, password)
  const mail = await sealSessionNotice(session, passwordChanged)
  const { sid, session_digest } = await newSession(world)
  const args = { password_hash, session_digest, mail }
  return {
    token: await sessionTokenOf(world, sid, await db.one('owner_set_password', args, openedRow)),
  }
}

/** Replaces all recovery codes and returns the new ones, which cannot be read again later. */
export async function makeRecoveryCodes(session: OwnerSession): Promise<string[]> {
  const codes = newRecoveryCodes(session.world)
  const digests = await Promise.all(codes.map((code) => recoveryDigest(session.world, code)))
  const mail = await sealSessionNotice(session, recoveryCodesMade)
  await session.db.run('owner_set_recovery_codes', { digests, mail })
  return codes
}
