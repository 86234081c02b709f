import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeSecret,
  encodeSecret,
  secretInput,
  secretOf,
  usableValues,
} from '../../../shared/vault/record.ts'

const seed = 'JBSWY3DPEHPK3PXP'
const text = (maxLength: number) => fc.string({ unit: 'grapheme', minLength: 1, maxLength })

test('any secret part comes back from its bytes, whatever characters it has', () => {
  const input = fc.record(
    {
      password: text(40),
      totp_secret: fc.constant(seed),
      notes: text(200),
      fields: fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/), text(40)),
    },
    { requiredKeys: ['password'] },
  )

  fc.assert(
    fc.property(input, (given) => {
      const secret = secretOf(secretInput.parse(given))
      if ('refused' in secret) throw new Error(secret.refused)
      expect(decodeSecret(encodeSecret(secret))).toEqual(secret)
      expect(secret.password).toBe(given.password)
    }),
    { numRuns: 200 },
  )
})

test.each([
  ['an empty password', { password: '' }],
  ['half a character', { password: 'abc\ud800' }],
  ['a password without end', { password: 'a'.repeat(1025) }],
  ['a field named like a part of every object', { fields: { __proto__x: 'a', 'a.b': 'c' } }],
  [
    '21 fields',
    { fields: Object.fromEntries('abcdefghijklmnopqrstu'.split('').map((n) => [n, n])) },
  ],
  ['a word that is not known', { password: 'a', pin: '1' }],
])('%s is refused', (_, input) => {
  expect(secretInput.safeParse(input).success).toBe(false)
})

test('what cannot be used, is no TOTP secret or is too much is refused with a sentence', () => {
  const big = Object.fromEntries('abcdefghijkl'.split('').map((name) => [name, '€'.repeat(1024)]))

  expect(secretOf({ notes: 'nothing else' })).toHaveProperty(
    'refused',
    expect.stringMatching(/Give a/),
  )
  expect(secretOf({ fields: {} })).toHaveProperty('refused', expect.stringMatching(/Give a/))
  expect(secretOf({ totp_secret: 'x' })).toHaveProperty('refused', expect.stringMatching(/TOTP/))
  expect(secretOf({ fields: big })).toHaveProperty('refused')
  expect(secretOf({ password: 'a', fields: { b: big['a'] ?? '' } })).not.toHaveProperty('refused')
})

test('bytes that are no secret part are refused without a word of them', () => {
  for (const wrong of ['{"password":"hunter2"', '{"hunter2":1}', '[]', '"hunter2"', '\ufffd']) {
    const open = () => decodeSecret(Buffer.from(wrong))
    expect(open).toThrow('an opened record is no secret part of an entry')
    expect(open).not.toThrow('hunter2')
  }
})

test('a template may use password, code and fields, and neither notes nor seed', () => {
  const secret = secretOf({ password: 'p', totp_secret: seed, notes: 'n', fields: { pin: '4711' } })
  if ('refused' in secret) throw new Error(secret.refused)

  const values = usableValues(secret, 0)

  expect([...values]).toEqual([
    ['password', 'p'],
    ['totp', '282760'],
    ['fields.pin', '4711'],
  ])
  expect([...values.values()].join()).not.toContain(seed)
})
