/**
 * The Merkle tree hash of RFC 9162 section 2.1.1 with SHA-256. It lets one approval stand for a list of
 * payments: anyone with the list can recompute the root, and no other list has the same root.
 */
import { fromHex, sha256, toHex } from '../digest.ts'

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
