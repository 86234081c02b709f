/**
 * Encodings of bytes that are known only as lists of choices: each digit of an encoding becomes the list of
 * digits that may stand there. A text has several forms, depending on the number of bytes before it.
 */

/** Bytes that may stand in each place, in order. */
export type Choices = readonly (readonly number[])[]
/** Digits that may stand in each place. */
export type Digits = readonly string[]

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns the base64 digits for each position of the bytes within a group. */
export function base64Of(bytes: Choices): Digits[] {
  return [0, 1, 2].map((place) => digitsOf(bytes, (place * 4) % 6, base64Digits))
}

/** Returns the base64 digits of a few bytes, with the digits at the ends that they determine in part. */
export function base64AroundOf(bytes: Choices): Digits {
  const [before, behind] = [
    [0, 1, 2, 3],
    [0x00, 0x40, 0x80, 0xc0],
  ]
  return digitsOf([before, ...bytes, behind], 6, base64Digits).slice(0, -1)
}

/** Returns the base32 digits for each position of the bytes within a group. */
export function base32Of(bytes: Choices): Digits[] {
  return [0, 1, 2, 3, 4].map((place) => digitsOf(bytes, (place * 2) % 5, base32Digits))
}

/** Returns the bits as zeros and ones. */
export function binaryOf(bytes: Choices): Digits {
  return digitsOf(bytes, 0, '01')
}

/** Returns the hexadecimal digits in lower case. */
export function hexOf(bytes: Choices): Digits {
  return digitsOf(bytes, 0, '0123456789abcdef')
}

/** Returns ASCII text as bytes. */
export function bytesOf(digits: Digits): Choices {
  return digits.map((choices) => Array.from(choices, (one) => one.charCodeAt(0)))
}

/** Returns the digits that these bytes alone determine, without their first `passed` bits. */
function digitsOf(bytes: Choices, passed: number, alphabet: string): Digits {
  const bits = Math.log2(alphabet.length)
  const digits: string[] = []
  for (let at = passed; at + bits <= bytes.length * 8; at += bits) {
    const shift = 16 - bits - (at & 7)
    const one = bytes[at >> 3] ?? none
    const other = shift < 8 ? (bytes[(at >> 3) + 1] ?? none) : none
    let found = ''
    for (const high of one) {
      for (const low of other) {
        const digit = alphabet[(((high << 8) | low) >> shift) & (alphabet.length - 1)] ?? ''
        if (!found.includes(digit)) found += digit
      }
    }
    digits.push(found)
  }
  return digits
}

const none: readonly number[] = [0]
