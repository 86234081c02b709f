/**
 * The Merkle-Patricia trie over a block's receipts (Yellow Paper, appendix D): its root, and the
 * nodes that lead to one of them. It holds only values of 32 bytes and more, as every receipt is, so
 * that each node is named by its hash and none is written into its parent.
 */
import { bytesToHex, hexToBytes, keccak256, toRlp } from 'viem/utils'
import type { Hex } from '../hex.ts'

/** The trie's root and the RLP of the nodes on the way to a value, root first. */
export type TriePath = { root: Hex; nodes: Hex[] }

type Bytes = Uint8Array<ArrayBufferLike>
type Entry = { key: string; value: Bytes }

/**
 * Builds the trie in which each value stands under its index, and keeps the way to one of them. In bytes,
 * since text of a whole block, made digit by digit, takes many times its length.
 */
export function pathInTrie(values: readonly Bytes[], index: number): TriePath {
  const entries = values.map((value, at) => ({ key: keyOf(at), value }))
  const target = entries[index]
  const nodes: Hex[] = []
  const root = bytesToHex(hashOf(entries, 0))
  return { root, nodes: nodes.toReversed() }

  function hashOf(below: readonly Entry[], depth: number): Bytes {
    const encoded = toRlp(nodeOf(below, depth, hashOf), 'bytes')
    if (target && below.includes(target)) nodes.push(bytesToHex(encoded))
    return keccak256(encoded, 'bytes')
  }
}

/** A leaf, an extension or a branch over the entries, which agree in their first nibbles. */
function nodeOf(
  below: readonly Entry[],
  depth: number,
  hashOf: (below: readonly Entry[], depth: number) => Bytes,
): Bytes[] {
  const [first, second] = below
  if (first && !second) return [compact(first.key.slice(depth), '2'), first.value]
  const fork = forkOf(below, depth)
  if (first && fork > depth) {
    return [compact(first.key.slice(depth, fork), '0'), hashOf(below, fork)]
  }
  const branches = Array.from({ length: 16 }, (_, nibble): Bytes => {
    const chosen = below.filter(({ key }) => key[depth] === nibble.toString(16))
    return chosen.length === 0 ? nothing : hashOf(chosen, depth + 1)
  })
  // No key of an index is the beginning of another, so no value ever stands at a branch.
  return [...branches, nothing]
}

const nothing = new Uint8Array(0)

/** Where the keys first differ. */
function forkOf(below: readonly Entry[], depth: number): number {
  let at = depth
  while (below.every(({ key }) => key[at] !== undefined && key[at] === below[0]?.key[at])) at += 1
  return at
}

/** The key of an index: the nibbles of its RLP. */
function keyOf(index: number): string {
  return toRlp(index === 0 ? '0x' : `0x${index.toString(16)}`).slice(2)
}

/** Nibbles as bytes (Yellow Paper, appendix C): a flag in front tells leaf and odd length. */
function compact(nibbles: string, flag: '0' | '2'): Bytes {
  const isOdd = nibbles.length % 2 === 1
  return hexToBytes(isOdd ? `0x${flag === '2' ? '3' : '1'}${nibbles}` : `0x${flag}0${nibbles}`)
}
