import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeSecret,
  encodeSecret,
  type Secret,
  secretInput,
  secretOf,
  usableValues,
  withNewPassword,
} from '../../../shared/vault/entries/record.ts'

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

test('a change keeps what it does not name, and takes away what it names as null', () => {
  const seeded = secretOf({
    password: 'p',
    totp_secret: seed,
    notes: 'n',
    fields: { a: '1', b: '2' },
  })
  if ('refused' in seeded) throw new Error(seeded.refused)

  const { totp } = seeded
  const fields = { a: '1', b: '2' }
  expect(secretOf({}, seeded)).toEqual(seeded)
  expect(secretOf({ totp_secret: null, notes: null }, seeded)).toEqual({ password: 'p', fields })
  expect(secretOf({ password: 'q', fields: { a: null, c: '3' } }, seeded)).toEqual({
    password: 'q',
    totp,
    notes: 'n',
    fields: { b: '2', c: '3' },
  })
  expect(secretOf({ fields: { a: null } }, { fields: { a: '1' } })).toHaveProperty('refused')
})

test('changes together give no more fields than one entry may have', () => {
  const some = (names: string) => Object.fromEntries(names.split('').map((name) => [name, name]))
  const present = { fields: some('abcdefghijklmnopqrst') }

  expect(secretOf({ fields: { ...some('u'), a: null } }, present)).not.toHaveProperty('refused')
  expect(secretOf({ fields: some('u') }, present)).toHaveProperty('refused')
})

test('a drawn password leaves the three before it usable, the latest first', () => {
  let secret: Secret = { password: 'p0' }
  for (const next of ['p1', 'p2', 'p3', 'p4']) {
    const drawn = withNewPassword(secret, next)
    if ('refused' in drawn) throw new Error(drawn.refused)
    secret = drawn
  }

  expect(Object.fromEntries(usableValues(secret, 0))).toEqual({
    password: 'p4',
    previous_password: 'p3',
    previous_password_2: 'p2',
    previous_password_3: 'p1',
  })
  expect(secretOf({ password: 'given' }, secret)).toEqual({ password: 'given' })
})
