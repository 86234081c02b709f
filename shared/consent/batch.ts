/**
 * The terms of one approval that is about several payments. They name none of them, only the root of
 * a tree over their digests, so the payments are kept beside them.
 */
import { merkleRoot } from './merkle.ts'

/** The fewest and the most payments that one approval may be about. */
export const batchSize = { min: 2, max: 50 }

/** The terms of several payments of an account, by the digests of their terms in any order. */
export async function batchTerms(account: string, digests: readonly string[]) {
  return {
    account_id: account,
    leaves: digests.length,
    root: await merkleRoot([...digests].sort()),
    type: 'batch',
    v: 1,
  }
}
