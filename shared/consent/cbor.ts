/**
 * CBOR maps (RFC 8949) of authenticators. One text stands for a map: what is longer than it had to be,
 * names a label twice or has bytes behind it is no map here.
 */
import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import { toHex } from '../digest.ts'

/** The map that these bytes are, and nothing else. */
export function readMap(bytes: Uint8Array): Map<unknown, unknown> | undefined {
  try {
    const map = decodeCBOR(bytes)
    return map instanceof Map && toHex(encodeCBOR(map)) === toHex(bytes) ? map : undefined
  } catch {
    return undefined
  }
}
