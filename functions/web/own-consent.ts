/** The owner's consent as a form of ours carries it. */
import { consentByPasskey } from '../../shared/auth/consent-by-passkey.ts'
import type { OwnSession } from '../../shared/auth/own-session.ts'
import type { Passkeys } from './data/consent.ts'

/**
 * What the SQL function that enters a consent takes: the assertion over the digest, null of an
 * account without a passkey. Undefined when the passkey's answer is not good for this digest.
 */
export async function consentIn(
  session: OwnSession,
  form: URLSearchParams,
  digest: string,
  passkeys: Passkeys,
) {
  if (passkeys.length === 0) return null
  return consentByPasskey(session, form.get('answer') ?? '', digest)
}
