/**
 * The most common passwords as a set small enough for an edge function: the first four bytes of each one's
 * SHA-256 as a number, sorted, and of these the differences, in three bytes each.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { decodeBytes } from '../base64.ts'
import { commonPasswords } from './common-passwords.ts'

let common: Set<number> | undefined

/** True if a text in lower case is in the set; also true for one in 215,000 texts that are not. */
export function isCommonPassword(text: string): boolean {
  common ??= readSet(decodeBytes(commonPasswords) ?? new Uint8Array())
  const { buffer, byteOffset } = sha256(new TextEncoder().encode(text))
  return common.has(new DataView(buffer, byteOffset).getUint32(0))
}

function readSet(differences: Uint8Array): Set<number> {
  const heads = new Set<number>()
  let head = 0
  for (let at = 0; at < differences.length; at += 3) {
    const [a = 0, b = 0, c = 0] = differences.subarray(at, at + 3)
    head += (a << 16) | (b << 8) | c
    heads.add(head)
  }
  return heads
}
