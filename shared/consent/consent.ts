/**
 * Consent as it leaves the database, and the check that it covers some terms. Code that relies on consent
 * runs the check again: no digest or signature is trusted because it was stored. The check cannot tell
 * whose passkey it was; only the ledger knows that.
 */
import * as z from 'zod'
import { ownersLevels } from '../policy/facts.ts'
import type { AssertionFault } from './assertion.ts'
import { faultOfAssertion } from './assertion.ts'
import { batchSize, batchTerms } from './batch.ts'
import type { RelyingParty } from './place.ts'
import { termsDigest } from './terms.ts'

const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** One act of consent, as private.consent_json returns it and receipts state it. */
export const consentRow = z.object({
  level: z.enum(ownersLevels),
  digest,
  /** Digests of the payments of a batch, ascending; `digest` is then that of the batch. */
  leaves: z.array(digest).nullable(),
  /** Passkey and what it signed over the digest, in base64url; null at the level user_session. */
  passkey: z
    .object({
      id: z.string(),
      added_at: z.iso.datetime({ offset: true }),
      public_key: z.string(),
      client_data: z.string(),
      authenticator_data: z.string(),
      signature: z.string(),
    })
    .nullable(),
  /** Time of the request; for a batch, of its first payment. */
  asked_at: z.iso.datetime({ offset: true }),
  decided_at: z.iso.datetime({ offset: true }),
})

/** An act of consent, parsed. */
export type Consent = z.output<typeof consentRow>

/** The check that failed: the digest, the list of a batch, or a check of the assertion. */
export type ConsentFault = AssertionFault | 'digest' | 'batch' | 'assertion_missing'

/** Returns the first check that fails; undefined if the owner consented to exactly these terms. */
export async function faultOfConsent(
  { level, digest: consented, leaves, passkey }: Omit<Consent, 'asked_at' | 'decided_at'>,
  terms: { account_id: string },
  place: RelyingParty,
): Promise<ConsentFault | undefined> {
  const own = await termsDigest(terms)
  if (leaves && !(await isBatchWith(own, leaves, terms.account_id, consented))) return 'batch'
  if (!leaves && own !== consented) return 'digest'
  if (level === 'user_session') return undefined
  if (!passkey) return 'assertion_missing'
  return faultOfAssertion(passkey, { digest: consented, ...place })
}

async function isBatchWith(
  digest: string,
  leaves: readonly string[],
  account: string,
  batchDigest: string,
): Promise<boolean> {
  const isSized = leaves.length >= batchSize.min && leaves.length <= batchSize.max
  if (!isSized || !leaves.includes(digest)) return false
  return (await termsDigest(await batchTerms(account, leaves))) === batchDigest
}
