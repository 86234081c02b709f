/** Kinds of bytes, as ASCII knows them. */

/** Whether a byte is a decimal digit. */
export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57
}

/** Whether a byte is a letter or a digit of ASCII. */
export function isLetterOrDigit(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)
}

/** Whether a byte is a digit of base64, of either alphabet. */
export function isDigitOfCode(byte = 0): boolean {
  return isLetterOrDigit(byte) || byte === 0x2b || byte === 0x2f || byte === 0x5f || byte === 0x2d
}

/** 1 for each byte of ASCII that is neither letter nor digit. */
export const isPunctuation = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 128 && !/[0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

/** Whether an equals sign begins no escape of quoted-printable, as in every tag with attributes. */
export function isLoneEquals(bytes: Uint8Array, at: number): boolean {
  const next = bytes[at + 1] ?? 0
  return bytes[at] === 0x3d && !isLetterOrDigit(next) && next !== 0x0a && next !== 0x0d
}
