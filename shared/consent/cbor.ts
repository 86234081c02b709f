/**
 * CBOR maps (RFC 8949) of authenticators. One text stands for a map: what is longer than it had to be,
 * names a label twice or has bytes behind it is no map here.
 */
import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'

/** The map that these bytes are, and nothing else. */
export function readMap(bytes: Uint8Array): Map<unknown, unknown> | undefined {
  try {
    const map = decodeCBOR(bytes)
    if (!(map instanceof Map)) return undefined
    const shortest = encodeCBOR(map)
    const isShortest = shortest.length === bytes.length
    return isShortest && shortest.every((byte, at) => byte === bytes[at]) ? map : undefined
  } catch {
    return undefined
  }
}
