import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { newPassword, type PasswordWish } from '../../../shared/vault/password.ts'
import { readPasswordRules } from '../../../shared/vault/password-rules.ts'

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
  [{ rules: 'required: digit; minlength: 4; maxlength: 4' }, /^[0-9]{4}$/],
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

test('every password that keeps the rules is as likely as every other', () => {
  const counts = new Map<string, number>()
  const runs = 60_000
  for (let run = 0; run < runs; run += 1) {
    const password = made({
      rules: 'required: [ab]; required: [bcd]; max-consecutive: 2',
      length: 3,
    })
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
  // Six standard deviations of chi squared above its mean: by chance once in a billion runs.
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
