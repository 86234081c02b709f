/** The owner's password and recovery codes: set anew after a proof, the password after a recovery too. */
import { passwordChanged, recoveryCodesMade } from '../mail/access-messages.ts'
import { newSession, openedRow, tokenOf } from './new-session.ts'
import type { OwnSession } from './own-session.ts'
import { notice } from './own-session.ts'
import type { PasswordProblem } from './password.ts'
import { checkPassword, hashPassword } from './password.ts'
import { newRecoveryCodes, recoveryDigest } from './recovery-code.ts'

/** Sets the password and ends all other sessions; answers the new token of this one. */
export async function setPassword(
  session: OwnSession,
  password: string,
  email: string,
): Promise<{ problem: PasswordProblem } | { token: string | undefined }> {
  const { world, db, account } = session
  const problem = checkPassword(password, { email, alias: account.alias })
  if (problem) return { problem }
  const password_hash = hashPassword(world, password)
  const mail = await notice(session, passwordChanged)
  const { sid, session_digest } = await newSession(world)
  const args = { password_hash, session_digest, mail }
  return { token: await tokenOf(world, sid, await db.one('owner_set_password', args, openedRow)) }
}

/** New recovery codes in place of all older ones; this is the only time that they are seen. */
export async function makeRecoveryCodes(session: OwnSession): Promise<string[]> {
  const codes = newRecoveryCodes(session.world)
  const digests = await Promise.all(codes.map((code) => recoveryDigest(session.world, code)))
  const mail = await notice(session, recoveryCodesMade)
  await session.db.run('owner_set_recovery_codes', { digests, mail })
  return codes
}
