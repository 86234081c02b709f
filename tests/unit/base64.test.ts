import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase64, encodeBase64 } from '../../shared/base64.ts'

const bytes = fc.uint8Array({ maxLength: 400 })
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_ '

test('bytes become the base64 that Node makes of them, and are read back', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      const text = Buffer.from(given).toString('base64')

      expect(encodeBase64(given)).toBe(text)
      expect(decodeBase64(text, given.length)).toEqual(Uint8Array.from(given))
    }),
  )
})

test('a body of 400 KB passes without exhausting the call stack', () => {
  const body = new Uint8Array(400_000).fill(255)

  expect(encodeBase64(body)).toBe(Buffer.from(body).toString('base64'))
})

test('of all texts that differ in one character, none is read as the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), (given) => {
      const text = Buffer.from(given).toString('base64')
      const mistaken = othersOf(text).filter((other) => {
        return Buffer.from(given).equals(readOrEmpty(other, given.length))
      })

      expect(mistaken).toEqual([])
    }),
  )
})

test('bytes of another number than expected are refused, and the text is not repeated', () => {
  const secret = Buffer.alloc(31, 7).toString('base64')

  expect(() => decodeBase64(secret, 32)).toThrow(/^expected 32 bytes in base64$/)
})

function othersOf(text: string): string[] {
  return text.split('').flatMap((own, at) =>
    alphabet
      .split('')
      .filter((other) => other !== own)
      .map((other) => text.slice(0, at) + other + text.slice(at + 1)),
  )
}

function readOrEmpty(text: string, length: number): Uint8Array {
  try {
    return decodeBase64(text, length)
  } catch {
    return new Uint8Array()
  }
}
