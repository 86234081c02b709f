/** Standard base32 (RFC 4648 section 6), as the seeds of one-time codes are written in. */

const digitsInOrder = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/**
 * Decodes base32 digits in capitals, without padding (RFC 4648 section 6). Bits that fill no byte are
 * dropped, as every authenticator does.
 */
export function decodeBase32(digits: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor((digits.length * 5) / 8))
  let [bits, held, at] = [0, 0, 0]
  for (const digit of digits) {
    held = ((held << 5) | digitsInOrder.indexOf(digit)) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes[at] = held >> bits
    at += 1
  }
  return bytes
}
