/** The owner's password and recovery codes: set after a proof, or with the end of a hold after a recovery. */
import {
  holdEnded,
  passwordChanged,
  recoveryBegun,
  recoveryCodesMade,
} from '../mail/access-messages.ts'
import {
  newSession,
  type OwnerSession,
  openedRow,
  sealSessionNotice,
  sessionTokenOf,
} from './new-session.ts'
import { checkPassword, hashPassword, type PasswordProblem, verifyPassword } from './password.ts'
import { passwordRow } from './proof.ts'
import { newRecoveryCodes, recoveryDigest } from './recovery-code.ts'

/**
 * Returns why a text cannot be the owner's next password, which is another than the present one. Refused to a session
 * that may not change it, since the answer tells whether the text is the present one.
 */
export async function problemWith(
  session: OwnerSession,
  password: string,
  email: string,
): Promise<PasswordProblem | undefined> {
  const problem = checkPassword(password, { email, alias: session.account.alias })
  if (problem) return problem
  const read = await session.db.one('owner_read_password', {}, passwordRow)
  const stored = read?.password_hash ?? undefined
  const isSame = stored !== undefined && verifyPassword(session.world, password, stored) !== 'wrong'
  return isSame ? 'same' : undefined
}

/** Sets the password and ends other sessions. Returns this session's new token. */
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

/**
 * Sets the password that is good with the end of the hold, in a session that a recovery code opened. With
 * `lostPasskeys` the passkeys are removed then. Returns why the password cannot be used.
 */
export async function recoverAccess(
  session: OwnerSession,
  given: { password: string; email: string; lostPasskeys: boolean },
): Promise<PasswordProblem | undefined> {
  const { password, email, lostPasskeys: lost_passkeys } = given
  const problem = checkPassword(password, { email, alias: session.account.alias })
  if (problem) return problem
  const password_hash = hashPassword(session.world, password)
  const mail = await sealSessionNotice(session, recoveryBegun)
  await session.db.run('owner_recover', { password_hash, lost_passkeys, mail })
  return undefined
}

/** Ends the hold of the account and drops what would take effect with its end. */
export async function endHold(session: OwnerSession): Promise<void> {
  await session.db.run('owner_end_hold', { mail: await sealSessionNotice(session, holdEnded) })
}
