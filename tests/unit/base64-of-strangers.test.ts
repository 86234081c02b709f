import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBytes, decodeText, encodeText, parseJson } from '../../shared/base64.ts'

const bytes = fc.uint8Array({ maxLength: 400 })

test('both alphabets are read, padded or not', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      const standard = Buffer.from(given).toString('base64')
      const urlSafe = Buffer.from(given).toString('base64url')
      for (const text of [standard, standard.replaceAll('=', ''), urlSafe]) {
        expect(decodeBytes(text)).toEqual(Uint8Array.from(given))
      }
    }),
  )
})

test('any text survives the way to a header and back, in ASCII', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(decodeText(encodeText(text))).toBe(text)
      expect(encodeText(text)).toMatch(/^[A-Za-z0-9+/]*={0,2}$/)
    }),
  )
})

test('a body of 64 KB is read whole', () => {
  const body = new Uint8Array(65_536).fill(255)

  expect(decodeBytes(Buffer.from(body).toString('base64'))).toEqual(body)
})

test.each(['%%%', 'a', 'abcde', 'ab cd', 'é', 'ab=cd', '{"x402Version":2}'])(
  '%s is no base64',
  (text) => {
    expect(decodeBytes(text)).toBeUndefined()
  },
)

test('base64 of something else than UTF-8 is no text, and half a JSON is no value', () => {
  expect(decodeText(Buffer.from([0xff, 0xfe]).toString('base64'))).toBeUndefined()
  expect(parseJson('{"a":')).toBeUndefined()
})
