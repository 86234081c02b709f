/**
 * CBOR maps (RFC 8949) of authenticators. Each map has one accepted encoding: a longer one, a duplicate
 * label or trailing bytes are refused.
 */
import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'

/** Decodes bytes that are exactly one map; returns undefined otherwise. */
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
