import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  newPassword,
  type PasswordWish,
  passwordOf,
  passwordsThatKeep,
  readPasswordRules,
} from '../../../shared/vault/passwords.ts'
import { textWith } from '../../support/matching.ts'
import { randomBytes } from '../../support/seed.ts'

const random = (length: number) => new Uint8Array(randomBytes(length))

function made(wish: PasswordWish): string {
  const answer = newPassword(random, wish)
  if ('refused' in answer) throw new Error(answer.refused)
  return answer.password
}

test('without rules it has 24 characters of four kinds, and never comes twice', () => {
  const passwords = Array.from({ length: 500 }, () => made({}))

  expect(new Set(passwords).size).toBe(500)
  for (const password of passwords) {
    expect(password).toMatch(/^[A-Za-z0-9_.!@#%*+=?-]{24}$/)
    for (const kind of [/[A-Z]/, /[a-z]/, /[0-9]/, /[^A-Za-z0-9]/]) expect(password).toMatch(kind)
  }
})

test.each<[PasswordWish, RegExp]>([
  [{ rules: 'minlength: 20; required: lower; required: digit; allowed: [-]' }, /^[a-z0-9-]{24}$/],
  [{ rules: 'maxlength: 8; required: upper, lower; required: [$!]' }, /^(?=.*[$!])[A-Za-z$!]{8}$/],
  [{ rules: 'required: digit; minlength: 13; maxlength: 13' }, /^[0-9]{13}$/],
  [{ rules: 'minlength: 40; allowed: ascii-printable' }, /^[!-~]{40}$/],
  [{ rules: 'minlength: 12' }, /^[!-~]{24}$/],
  [{ rules: 'allowed: lower; max-consecutive: 1', length: 64 }, /^(?!.*(.)\1)[a-z]{64}$/],
  [{ rules: 'allowed: []]; allowed: [;:,-]; ' }, /^[\];:,-]{24}$/],
  [{ rules: 'REQUIRED: Upper; minlength: 3; minlength: 30' }, /^[A-Z]{30}$/],
  [{ exclude: 'O0Il1_.!@#%*+=?', length: 16 }, /^(?=.*-)[A-HJ-NP-Za-km-z2-9-]{16}$/],
  [{ rules: 'allowed: unicode, special', exclude: '!"#$%&\'' }, /^[(-~]{24}$/],
])('it keeps the rules %j', (wish, pattern) => {
  for (let run = 0; run < 50; run += 1) expect(made(wish)).toMatch(pattern)
})

test.each<PasswordWish>([
  { rules: 'minlength: 9; maxlength: 8' },
  { rules: 'required: lower; required: upper; maxlength: 1' },
  { rules: 'required: digit', exclude: '0123456789' },
  { rules: 'allowed: [a]; max-consecutive: 2; minlength: 3' },
  { rules: 'max-consecutive: 0' },
  { rules: 'forbidden: lower' },
  { rules: 'required: runes' },
  { rules: 'required:' },
  { rules: 'minlength: many' },
  { rules: 'x'.repeat(1025) },
  { rules: 'maxlength: 12', length: 13 },
  { length: 0 },
  { length: 12.5 },
  { length: 5000 },
  { rules: 'allowed: [ab]; max-consecutive: 1', length: 256 },
])('rules that no password keeps are refused: %j', (wish) => {
  expect(newPassword(random, wish)).toHaveProperty('refused', expect.stringMatching(/\.$/))
})

test.each<PasswordWish>([
  { rules: 'allowed: [a]; maxlength: 8' },
  { rules: 'allowed: [ab]', length: 39 },
  { rules: 'allowed: digit', length: 12 },
  { rules: 'allowed: digit', exclude: '23456789' },
  { rules: 'allowed: [ab]; max-consecutive: 1', length: 64 },
  { rules: 'required: [a]; required: [b]; required: [c]; required: [d]', length: 5 },
])('rules that leave few passwords are refused: %j', (wish) => {
  expect(newPassword(random, wish)).toMatchObject({ refused: textWith('could be guessed') })
})

test.each<PasswordWish>([
  { rules: 'allowed: [ab]', length: 40 },
  { rules: 'allowed: digit', length: 13 },
  { rules: 'required: lower; required: upper; required: digit', length: 256 },
])('rules that leave enough are kept: %j', (wish) => {
  expect(made(wish)).toHaveLength(wish.length ?? 0)
})

test('passwords that keep rules are counted as by writing them all down', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('a', 'ab', 'abc', 'abcd'),
      fc.array(fc.constantFrom('a', 'ab', 'bc', 'cd'), { maxLength: 3 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 5 }),
      (allowed, required, consecutiveMax, length) => {
        const alphabet = [...new Set(allowed + required.join(''))].join('')
        const rules = { required, alphabet, lengthMin: 1, lengthMax: 9, consecutiveMax }
        const run = new RegExp(`(.)\\1{${consecutiveMax}}`)
        const kept = textsOf(alphabet, length).filter(
          (text) => !run.test(text) && required.every((set) => RegExp(`[${set}]`).test(text)),
        )
        expect(passwordsThatKeep(rules, length)).toBe(BigInt(kept.length))
      },
    ),
  )
})

function textsOf(alphabet: string, length: number): string[] {
  if (length === 0) return ['']
  return textsOf(alphabet, length - 1).flatMap((text) =>
    alphabet.split('').map((one) => text + one),
  )
}

function rulesOf(text: string) {
  const rules = readPasswordRules(text)
  if ('refused' in rules) throw new Error(rules.refused)
  return rules
}

test('every password that keeps the rules is as likely as every other', () => {
  const counts = new Map<string, number>()
  const runs = 60_000
  const rules = rulesOf('required: [ab]; required: [bcd]; max-consecutive: 2')
  for (let run = 0; run < runs; run += 1) {
    const answer = passwordOf(random, rules, 3)
    const password = 'password' in answer ? answer.password : ''
    counts.set(password, (counts.get(password) ?? 0) + 1)
  }

  const letters = 'abcd'.split('')
  const all = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))
  const valid = all.filter((p) => /[ab]/.test(p) && /[bcd]/.test(p) && !/(.)\1\1/.test(p))
  expect([...counts.keys()].sort()).toEqual(valid.sort())
  const expected = runs / valid.length
  const chiSquared = [...counts.values()].reduce(
    (sum, n) => sum + (n - expected) ** 2 / expected,
    0,
  )
  // Six standard deviations of chi-squared above its mean, which occur by chance once in a billion runs.
  expect(chiSquared).toBeLessThan(valid.length + 6 * Math.sqrt(2 * valid.length) + 18)
})

test('what is read from the rules is what Apple describes', () => {
  expect(readPasswordRules('required: upper; allowed: [-().&@?\'#,/"+]; maxlength: 20')).toEqual({
    required: ['ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
    alphabet: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ-().&@?\'#,/"+',
    lengthMin: 1,
    lengthMax: 20,
    consecutiveMax: 256,
  })
})
