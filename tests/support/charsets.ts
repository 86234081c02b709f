/** Encodes text in old charsets, by turning the tables of the platform's decoder round. */

const tables = new Map<string, Map<string, number[]>>()

/** Returns the bytes of a text in a charset of one byte, or of two, for a character. */
export function encodeIn(charset: string, text: string): Uint8Array {
  if (charset === 'utf-8') return new TextEncoder().encode(text)
  if (charset === 'utf-16le') return new Uint8Array(Buffer.from(text, 'utf16le'))
  if (charset === 'iso-2022-jp') return inSwitches(text)
  const table = tables.get(charset) ?? tableOf(charset)
  tables.set(charset, table)
  return new Uint8Array(
    Array.from(text).flatMap((sign) => {
      const bytes = table.get(sign)
      if (!bytes) throw new Error(`${charset} has no ${sign}`)
      return bytes
    }),
  )
}

function tableOf(charset: string): Map<string, number[]> {
  const decoder = new TextDecoder(charset)
  const all = Array.from({ length: 256 }, (_, byte) => byte)
  const pairs = all.slice(129).flatMap((lead) => all.slice(64).map((trail) => [lead, trail]))
  const codes = [...pairs.toReversed(), ...all.map((byte) => [byte])]
  return new Map(codes.map((bytes) => [decoder.decode(Uint8Array.from(bytes)), bytes]))
}

/** Writes Japanese with the switches of ISO-2022-JP, whose pairs are those of EUC-JP without high bits. */
function inSwitches(text: string): Uint8Array {
  const parts = text.split(/([^\0-\u007f]+)/)
  return new Uint8Array(
    parts.flatMap((part, at) =>
      at % 2 === 0
        ? Array.from(part, (sign) => sign.charCodeAt(0))
        : [27, 0x24, 0x42, ...encodeIn('euc-jp', part), 27, 0x28, 0x42].map((byte) => byte & 127),
    ),
  )
}
