/** Classes of ASCII bytes. */

/** True if a byte is a decimal digit. */
export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57
}

/** True if a byte is an ASCII letter or digit. */
export function isLetterOrDigit(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)
}

/** True if a byte is a digit of base64, in either alphabet. */
export function isDigitOfCode(byte = 0): boolean {
  return isLetterOrDigit(byte) || byte === 0x2b || byte === 0x2f || byte === 0x5f || byte === 0x2d
}

/** Table with 1 for each ASCII byte that is neither a letter nor a digit. */
export const isPunctuation = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 128 && !/[0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

/** True for an equals sign that begins no quoted-printable escape, as in every tag with attributes. */
export function isLoneEquals(bytes: Uint8Array, at: number): boolean {
  const next = bytes[at + 1] ?? 0
  return bytes[at] === 0x3d && !isLetterOrDigit(next) && next !== 0x0a && next !== 0x0d
}
