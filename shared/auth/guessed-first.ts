/**
 * The passwords that are guessed first, as a set that an edge function can carry: the sorted first
 * bytes of the SHA-256 of each.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { decodeBytes } from '../base64.ts'
import { commonPasswords } from './common-passwords.ts'

const commonBytes = 3
let common: Uint8Array | undefined

/** Whether a text in lower case is in the set: surely when it is one, and once in 839 when not. */
export function isGuessedFirst(text: string): boolean {
  common ??= decodeBytes(commonPasswords) ?? new Uint8Array()
  const wanted = firstBytes(sha256(new TextEncoder().encode(text)), 0)
  let [low, high] = [0, common.length / commonBytes]
  while (low < high) {
    const middle = (low + high) >> 1
    const found = firstBytes(common, middle * commonBytes)
    if (found === wanted) return true
    if (found < wanted) low = middle + 1
    else high = middle
  }
  return false
}

function firstBytes(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + commonBytes)
  return (first << 16) | (second << 8) | third
}
