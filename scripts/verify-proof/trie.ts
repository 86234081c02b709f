/**
 * Reads a value out of a Merkle-Patricia proof (Yellow Paper, appendix D), from the root down. The hash of
 * every node must be the one that its parent names, so the root vouches for the value.
 */
import type { RlpStructuredData } from 'ethers'
import { decodeRlp, encodeRlp, keccak256, toBeArray } from 'ethers'

/** Returns the value at an index. Throws the reason if the nodes do not lead to one. */
export function valueInTrie(root: string, index: number, nodes: readonly string[]): string {
  let named = root
  // The key is the RLP of the index, read nibble by nibble.
  let left = encodeRlp(toBeArray(index)).slice(2)
  for (const [depth, node] of nodes.entries()) {
    if (keccak256(node) !== named) throw new Error(`node ${depth} is not the one that is named`)
    const items = decodeList(node)
    if (items.length === 17) {
      named = textAt(items, Number.parseInt(left.slice(0, 1), 16))
      left = left.slice(1)
      continue
    }
    const { nibbles, isLeaf } = decodePath(textAt(items, 0))
    if (!left.startsWith(nibbles)) throw new Error(`node ${depth} leads elsewhere`)
    left = left.slice(nibbles.length)
    named = textAt(items, 1)
    if (!isLeaf) continue
    if (left !== '' || depth !== nodes.length - 1) throw new Error(`node ${depth} is not the last`)
    return named
  }
  throw new Error('the nodes end before a value')
}

/** Returns the items of an RLP list. */
export function decodeList(rlp: string): RlpStructuredData[] {
  const decoded = decodeRlp(rlp)
  if (typeof decoded === 'string') throw new Error('not a list')
  return decoded
}

/** Returns the item at this place, as bytes. */
export function textAt(items: readonly RlpStructuredData[], at: number): string {
  const item = items[at]
  if (typeof item !== 'string') throw new Error(`item ${at} is not a string of bytes`)
  return item
}

/** Decodes hex-prefix (Yellow Paper, appendix C): bit 1 of the first nibble is leaf, bit 0 odd. */
function decodePath(path: string): { nibbles: string; isLeaf: boolean } {
  const flag = Number.parseInt(path.slice(2, 3), 16)
  const isOdd = (flag & 1) === 1
  return { nibbles: path.slice(isOdd ? 3 : 4), isLeaf: (flag & 2) === 2 }
}
