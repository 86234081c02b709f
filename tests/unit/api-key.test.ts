import { createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createApiKey, credentialOf, isApiKey, shownPart } from '../../shared/auth/api-key.ts'
import { toHex } from '../../shared/digest.ts'
import { randomBytes } from '../support/seed.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const random = (length: number) => new Uint8Array(randomBytes(length))
const key = fc
  .constantFrom('live' as const, 'test' as const)
  .map((kind) => createApiKey(kind, random))

/** Returns the checksum as six base62 digits of zlib's CRC-32. */
function checksumTwin(text: string): string {
  const digits = []
  for (let rest = BigInt(crc32(text)); digits.length < 6; rest /= 62n) {
    digits.unshift(alphabet[Number(rest % 62n)])
  }
  return digits.join('')
}

test('a new key has the published form and the checksum that zlib computes', () => {
  fc.assert(
    fc.property(key, (made) => {
      expect(made).toMatch(/^aoa_(live|test)_[0-9A-Za-z]{36}$/)
      expect(made.slice(-6)).toBe(checksumTwin(made.slice(0, -6)))
      expect(isApiKey(made)).toBe(true)
    }),
  )
})

test('a key in which one character is wrong is refused', () => {
  const slip = fc.record({
    made: key,
    at: fc.nat(44),
    char: fc.constantFrom(...alphabet.split(''), '_', ' '),
  })
  fc.assert(
    fc.property(slip, ({ made, at, char }) => {
      fc.pre(made[at] !== char)
      expect(isApiKey(made.slice(0, at) + char + made.slice(at + 1))).toBe(false)
    }),
    { numRuns: 2_000 },
  )
})

test('a key in which two neighbours changed places is refused', () => {
  fc.assert(
    fc.property(key, fc.nat(43), (made, at) => {
      const [one = '', other = ''] = made.slice(at, at + 2)
      fc.pre(one !== other)
      expect(isApiKey(made.slice(0, at) + other + one + made.slice(at + 2))).toBe(false)
    }),
  )
})

test('what is shorter, longer, of another prefix or made up is refused', () => {
  const made = createApiKey('live', random)
  const others = ['', made.slice(1), made.slice(0, -1), `${made}0`, ` ${made}`, `${made}\n`]
  const prefixes = [made.replace('live', 'prod'), made.replace('live', 'test'), made.toUpperCase()]
  for (const text of [...others, ...prefixes]) expect(isApiKey(text), text).toBe(false)
  fc.assert(fc.property(fc.string(), (text) => !isApiKey(text)))
})

test('bytes that would favour some letters are not used', () => {
  const skewed = (length: number) => random(length).map((byte, at) => (at % 2 ? byte : 255))
  const made = createApiKey('live', skewed)
  expect(isApiKey(made)).toBe(true)
  const bytes = Uint8Array.from({ length: 30 }, (_, at) => at + 218)
  const body = createApiKey('live', () => bytes).slice(9, 39)
  expect(body).toHaveLength(30)
  expect(new Set(body)).toEqual(
    new Set([...bytes].filter((b) => b < 248).map((b) => alphabet[b % 62])),
  )
})

test('a key uses every character of its alphabet equally often', () => {
  const counts = new Map<string, number>()
  for (let made = 0; made < 2_000; made += 1) {
    for (const char of createApiKey('live', random).slice(9, 39)) {
      counts.set(char, (counts.get(char) ?? 0) + 1)
    }
  }
  const expected = (2_000 * 30) / 62
  const values = alphabet
    .split('')
    .map((char) => ((counts.get(char) ?? 0) - expected) ** 2 / expected)
  // Chi-squared with 61 degrees of freedom exceeds 150 once in ten billion runs.
  expect(values.reduce((sum, value) => sum + value, 0)).toBeLessThan(150)
})

test('the database knows a key only as the HMAC that node computes, under the pepper', async () => {
  await fc.assert(
    fc.asyncProperty(key, fc.string({ minLength: 16 }), async (made, pepper) => {
      const twin = createHmac('sha256', Buffer.from(pepper)).update(made).digest('hex')
      expect(await credentialOf(made, pepper)).toBe(twin)
    }),
  )
})

test('the part that is shown names the kind and tells less than a guess needs', () => {
  const made = createApiKey('live', random)
  expect(shownPart(made)).toBe(`aoa_live_…${made.slice(-4)}`)
})

test('hex is written as node writes it', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(toHex(Uint8Array.from(bytes).buffer)).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})
