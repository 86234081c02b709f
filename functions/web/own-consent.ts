/** The owner's consent, as our forms carry it. */
import type { OwnerSession } from '../../shared/auth/new-session.ts'
import { consentByPasskey } from '../../shared/auth/owner-passkeys.ts'
import type { Passkeys } from './approvals/consent-data.ts'

/**
 * Returns what the SQL function for a consent takes: the passkey's assertion over the digest, or null
 * for an account without a passkey. Undefined if the assertion does not hold for this digest.
 */
export async function readOwnerConsent(
  session: OwnerSession,
  form: URLSearchParams,
  digest: string,
  passkeys: Passkeys,
) {
  if (passkeys.length === 0) return null
  return consentByPasskey(session, form.get('answer') ?? '', digest)
}
