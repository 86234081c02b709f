/**
 * Terms of one approval of several payments. They contain only the root of a Merkle tree over the payments'
 * digests, so the list of digests is stored beside them.
 */
import { merkleRoot } from './merkle.ts'

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
