/**
 * An act of consent as it leaves the database, and whether it stands for some terms. Whoever relies on
 * it works this out again: neither a digest nor a signature is believed because it was stored. What
 * cannot be seen here is whose passkey it was; that the ledger knows alone.
 */
import * as z from 'zod'
import { ownersLevels } from '../policy/facts.ts'
import type { AssertionFault } from './assertion.ts'
import { faultOfAssertion } from './assertion.ts'
import { batchSize, batchTerms } from './batch.ts'
import type { Place } from './place.ts'
import { digestOf } from './terms.ts'

const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** One act of consent, as private.consent_json tells it and receipts state it. */
export const consentRow = z.object({
  level: z.enum(ownersLevels),
  digest,
  /** Of the payments of a batch, in ascending order; the digest is then that of the batch. */
  leaves: z.array(digest).nullable(),
  /** What it signed over the digest, in base64url; null at the level user_session. */
  passkey: z
    .object({
      id: z.string(),
      public_key: z.string(),
      client_data: z.string(),
      authenticator_data: z.string(),
      signature: z.string(),
    })
    .nullable(),
  decided_at: z.iso.datetime({ offset: true }),
})

/** Consent as it was read. */
export type Consent = z.output<typeof consentRow>

/** Which check failed: the digest, the list of a batch, or one of the assertion. */
export type ConsentFault = AssertionFault | 'digest' | 'batch' | 'assertion_missing'

/** The first check that fails, or undefined when the owner consented to exactly these terms. */
export async function faultOfConsent(
  { level, digest: consented, leaves, passkey }: Omit<Consent, 'decided_at'>,
  terms: { account_id: string },
  place: Place,
): Promise<ConsentFault | undefined> {
  const own = await digestOf(terms)
  if (leaves && !(await isBatchWith(own, leaves, terms.account_id, consented))) return 'batch'
  if (!leaves && own !== consented) return 'digest'
  if (level === 'user_session') return undefined
  return passkey ? faultOfAssertion(passkey, { digest: consented, ...place }) : 'assertion_missing'
}

async function isBatchWith(
  digest: string,
  leaves: readonly string[],
  account: string,
  batchDigest: string,
): Promise<boolean> {
  const isSized = leaves.length >= batchSize.min && leaves.length <= batchSize.max
  if (!isSized || !leaves.includes(digest)) return false
  return (await digestOf(await batchTerms(account, leaves))) === batchDigest
}
