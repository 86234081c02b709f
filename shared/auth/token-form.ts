/**
 * Form of every secret that the service issues: a prefix for its kind, 30 base62 characters (178 bits) and
 * 6 base62 characters of CRC-32. A mistyped or invented token is refused without a database call.
 */

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 30
const checkLength = 6
const rest = new RegExp(`^[0-9A-Za-z]{${bodyLength + checkLength}}$`)

/** Makes a new token from random bytes. */
export function randomToken(prefix: string, randomBytes: (length: number) => Uint8Array): string {
  let body = ''
  while (body.length < bodyLength) {
    for (const byte of randomBytes(bodyLength)) {
      // 248 is the largest multiple of 62 below 256; bytes from it on would favour some letters.
      if (byte < 248 && body.length < bodyLength) body += alphabet[byte % 62] ?? ''
    }
  }
  return checked(prefix + body)
}

/** Derives one token from 256 secret bits in hex; the token does not reveal them. */
export function derivedToken(prefix: string, secretHex: string): string {
  let left = BigInt(`0x${secretHex}`)
  let body = ''
  // 62^30 is far below 2^256, so no letter is more likely by over one part in 2^77.
  for (let place = 0; place < bodyLength; place += 1) {
    body += alphabet[Number(left % 62n)] ?? ''
    left /= 62n
  }
  return checked(prefix + body)
}

/** True if the text has this prefix, the token form and the right checksum. */
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

/** Computes CRC-32 as in ISO 3309, bit by bit: tokens are short, and no table is needed. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
