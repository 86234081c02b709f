/**
 * The form of every secret that the service gives out: a prefix that tells what it is, 30 base62
 * characters (178 bits) and 6 base62 characters of CRC-32, so that a mistyped or made-up one is
 * refused without a look into the database.
 */

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 30
const checkLength = 6
const rest = new RegExp(`^[0-9A-Za-z]{${bodyLength + checkLength}}$`)

/** A new token of random bytes. */
export function randomToken(prefix: string, randomBytes: (length: number) => Uint8Array): string {
  let body = ''
  while (body.length < bodyLength) {
    for (const byte of randomBytes(bodyLength)) {
      // 248 is the largest multiple of 62 below 256: bytes above it would favour some letters.
      if (byte < 248 && body.length < bodyLength) body += alphabet[byte % 62] ?? ''
    }
  }
  return checked(prefix + body)
}

/** The one token that follows from 256 secret bits in hex, which no part of it gives away. */
export function derivedToken(prefix: string, secretHex: string): string {
  let left = BigInt(`0x${secretHex}`)
  let body = ''
  // 62^30 is far below 2^256, so no letter is favoured by more than one part in 2^77.
  for (let place = 0; place < bodyLength; place += 1) {
    body += alphabet[Number(left % 62n)] ?? ''
    left /= 62n
  }
  return checked(prefix + body)
}

/** Whether a text can be a token with this prefix at all. */
export function isToken(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix) || !rest.test(text.slice(prefix.length))) return false
  const split = text.length - checkLength
  return checksum(text.slice(0, split)) === text.slice(split)
}

function checked(unchecked: string): string {
  return unchecked + checksum(unchecked)
}

function checksum(text: string): string {
  let value = crc32(text)
  let digits = ''
  for (let place = 0; place < checkLength; place += 1) {
    digits = (alphabet[value % 62] ?? '') + digits
    value = Math.floor(value / 62)
  }
  return digits
}

/** CRC-32 as in ISO 3309, bitwise: tokens are short and this keeps no table. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
