/**
 * Builds the Merkle-Patricia trie over a block's receipts (Yellow Paper, appendix D): its root, and the
 * nodes on the path to one receipt. It supports only values of 32 bytes and more, which every receipt is,
 * so each node is referenced by its hash and never embedded in its parent.
 */
import { bytesToHex, hexToBytes, keccak256, toRlp } from 'viem/utils'
import type { Hex } from '../../hex.ts'

/** The trie's root, and the RLP of the nodes on the path to a value, root first. */
export type TriePath = { root: Hex; nodes: Hex[] }

type Bytes = Uint8Array<ArrayBufferLike>
type Entry = { key: string; value: Bytes }

/**
 * Builds the trie of the values, keyed by index, and keeps the path to one of them. Nodes are bytes,
 * because hex text of a whole block would take many times their size.
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

/** Makes a leaf, an extension or a branch over the entries, whose keys agree up to `depth`. */
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
  // No key is a prefix of another, so a branch never holds a value.
  return [...branches, nothing]
}

const nothing = new Uint8Array(0)

/** Returns the first nibble at which the keys differ. */
function forkOf(below: readonly Entry[], depth: number): number {
  let at = depth
  while (below.every(({ key }) => key[at] !== undefined && key[at] === below[0]?.key[at])) at += 1
  return at
}

/** Returns the key of an index: the nibbles of its RLP. */
function keyOf(index: number): string {
  return toRlp(index === 0 ? '0x' : `0x${index.toString(16)}`).slice(2)
}

/** Packs nibbles into bytes (Yellow Paper, appendix C). A flag in front marks a leaf and odd length. */
function compact(nibbles: string, flag: '0' | '2'): Bytes {
  const isOdd = nibbles.length % 2 === 1
  return hexToBytes(isOdd ? `0x${flag === '2' ? '3' : '1'}${nibbles}` : `0x${flag}0${nibbles}`)
}
