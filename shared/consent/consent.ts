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
      added_at: z.iso.datetime({ offset: true }),
      /** Added while the account had no other, so that none vouched for it. */
      is_first: z.boolean(),
      public_key: z.string(),
      client_data: z.string(),
      authenticator_data: z.string(),
      signature: z.string(),
    })
    .nullable(),
  /** When it was asked for; of a batch, the first of it. */
  asked_at: z.iso.datetime({ offset: true }),
  decided_at: z.iso.datetime({ offset: true }),
})

/** Consent as it was read. */
export type Consent = z.output<typeof consentRow>

/** Which check failed: the digest, the list of a batch, or one of the assertion. */
export type ConsentFault =
  | AssertionFault
  | 'digest'
  | 'batch'
  | 'assertion_missing'
  | 'passkey_younger'

/**
 * The first check that fails, or undefined when the owner consented to exactly these terms. A passkey that
 * nothing vouches for proves no consent to what was asked for before it was added.
 */
export async function faultOfConsent(
  { level, digest: consented, leaves, passkey, asked_at: askedAt }: Omit<Consent, 'decided_at'>,
  terms: { account_id: string },
  place: Place,
): Promise<ConsentFault | undefined> {
  const own = await digestOf(terms)
  if (leaves && !(await isBatchWith(own, leaves, terms.account_id, consented))) return 'batch'
  if (!leaves && own !== consented) return 'digest'
  if (level === 'user_session') return undefined
  if (!passkey) return 'assertion_missing'
  if (passkey.is_first && new Date(passkey.added_at) > new Date(askedAt)) return 'passkey_younger'
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
  return (await digestOf(await batchTerms(account, leaves))) === batchDigest
}
