/**
 * Consent as it leaves the database, and the check that it covers some terms. Code that relies on consent
 * runs the check again: no digest or signature is trusted because it was stored. The check cannot tell
 * whose passkey it was; only the ledger knows that.
 */
import * as z from 'zod'
import { fromHex, sha256, toHex } from '../digest.ts'
import { ownersLevels } from '../policy/facts.ts'
import { type AssertionFault, faultOfAssertion, type RelyingParty } from './assertion.ts'
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

/** Minimum and maximum number of payments in one approval. */
export const batchSize = { min: 2, max: 50 }

/** Returns the terms of several payments of an account, from the digests of their terms in any order. */
export async function batchTerms(account: string, digests: readonly string[]) {
  return {
    account_id: account,
    leaves: digests.length,
    root: await merkleRoot([...digests].sort()),
    type: 'batch',
    v: 1,
  }
}

// The prefixes keep a leaf from being taken for a node (RFC 9162 section 2.1.1).
const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** Returns the root over digests in this order, in lower-case hex; each leaf is a digest's bytes. */
export async function merkleRoot(digests: readonly string[]): Promise<string> {
  return toHex(await treeHash(digests.map(fromHex)))
}

/** Returns the tree hash over the leaves in this order; without leaves it is the hash of no bytes. */
export async function treeHash(leaves: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const [first] = leaves
  if (!first) return sha256()
  if (leaves.length === 1) return sha256(leafPrefix, first)
  const left = largestPowerOfTwoBelow(leaves.length)
  const halves = [leaves.slice(0, left), leaves.slice(left)]
  return sha256(nodePrefix, ...(await Promise.all(halves.map(treeHash))))
}

function largestPowerOfTwoBelow(count: number): number {
  let power = 1
  while (power * 2 < count) power *= 2
  return power
}
