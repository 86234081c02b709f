/**
 * Consent as the database keeps it, and whether it stands for some terms. Whoever relies on it works
 * this out again: neither a digest nor a signature is believed because it was stored. What cannot be
 * seen here is whose passkey it was; that the ledger knows alone.
 */
import * as z from 'zod'
import type { AssertionFault, Expected } from './assertion.ts'
import { faultOfAssertion } from './assertion.ts'
import { batchSize, batchTerms } from './batch.ts'
import { digestOf } from './terms.ts'

const bytes = z.string().nullable()
const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** One act of consent, as private.consent_json tells it; binary values are base64url. */
export const consentRow = z.object({
  level: z.enum(['user_session', 'user_passkey']),
  digest,
  /** Of the payments of a batch, in ascending order; the digest is then that of the batch. */
  leaves: z.array(digest).nullable(),
  passkey: bytes,
  public_key: bytes,
  client_data: bytes,
  authenticator_data: bytes,
  signature: bytes,
  decided_at: z.iso.datetime({ offset: true }),
})

/** Consent as it was read. */
export type Consent = z.output<typeof consentRow>

const count = z
  .string()
  .regex(/^[0-9]+$/)
  .transform(BigInt)

/** The terms of a mandate as private.mandate_json tells them, with its state. */
export const mandateTermsRow = z.object({
  id: z.uuid(),
  account: z.uuid(),
  state: z.string(),
  merchant_domain: z.string(),
  include_subdomains: z.boolean(),
  max_payment_usd_micros: count,
  max_day_usd_micros: count.nullable(),
  max_total_usd_micros: count.nullable(),
  max_payments: z.int().nullable(),
  chains: z.array(z.int()).nullable(),
  tokens: z.array(z.string()).nullable(),
  pay_to: z.array(z.string()).nullable(),
  expires_at: z.iso.datetime({ offset: true }),
})

/** A mandate as it was read. */
export type StoredMandate = z.output<typeof mandateTermsRow>

/** Which check failed: the digest, the list of a batch, or one of the assertion. */
export type ConsentFault = AssertionFault | 'digest' | 'batch' | 'assertion_missing'

/** The first check that fails, or undefined when the owner consented to exactly these terms. */
export async function faultOfConsent(
  consent: Omit<Consent, 'decided_at'>,
  terms: { account_id: string },
  place: Omit<Expected, 'digest'>,
): Promise<ConsentFault | undefined> {
  const { level, leaves } = consent
  const own = await digestOf(terms)
  if (leaves && !(await isBatchWith(own, leaves, terms.account_id, consent.digest))) return 'batch'
  if (!leaves && own !== consent.digest) return 'digest'
  if (level === 'user_session') return undefined
  const { public_key, client_data, authenticator_data, signature } = consent
  if (public_key === null || client_data === null) return 'assertion_missing'
  if (authenticator_data === null || signature === null) return 'assertion_missing'
  const assertion = { public_key, client_data, authenticator_data, signature }
  return faultOfAssertion(assertion, { digest: consent.digest, ...place })
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
