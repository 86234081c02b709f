/** Windows-1252, the encoding of what is served as Latin-1 (https://encoding.spec.whatwg.org). */

const high = new TextDecoder('windows-1252').decode(
  Uint8Array.from({ length: 128 }, (_, at) => 128 + at),
)

/** Bytes by the codes of their characters, from 128 on. */
const bytesByCode: ReadonlyMap<number, number> = new Map(
  Array.from(high, (one, at) => [one.charCodeAt(0), 128 + at]),
)

/** Returns the byte that encodes a character; undefined if there is none. */
export function latinByte(code: number): number | undefined {
  return code < 128 ? code : (bytesByCode.get(code) ?? (code < 0xa0 ? code : undefined))
}

/** Encodes each character as one byte; returns undefined if one has none. */
export function inLatin(text: string): Uint8Array | undefined {
  const bytes = Array.from(text, (one) => latinByte(one.codePointAt(0) ?? 0))
  const known = bytes.filter((byte) => byte !== undefined)
  return known.length === bytes.length ? Uint8Array.from(known) : undefined
}
