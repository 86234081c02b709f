import { createRequire } from 'node:module'
import { argon2id } from '@noble/hashes/argon2.js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { checkPassword, hashPassword, verifyPassword } from '../../shared/auth/password.ts'
import { worldFrom } from '../../shared/world.ts'
import { derived } from '../support/argon2.ts'
import { casesOf } from '../support/cases.ts'
import { seeded } from '../support/seed.ts'

const require = createRequire(import.meta.url)

const world = worldFrom({
  BASE_URL: 'https://aoa.example',
  WEB_URL: 'http://localhost/web',
  MAIL_DOMAIN: 'agents.example',
  SUPABASE_URL: 'http://127.0.0.1:9',
  SUPABASE_API_KEY: 'sb_publishable_of_nobody',
  PASSWORD_PEPPER: 'a-pepper-of-the-tests-only',
})
const owner = { email: 'margarete.holz@people.example', alias: 'margarete-agent' }
const check = (password: string) => checkPassword(password, owner)

test.each([
  ['short pw', 'too_short'],
  ['ééééééééé', 'too_short'],
  ['x'.repeat(257), 'too_long'],
  ['x'.repeat(100_000), 'too_long'],
  ['password123', 'common'],
  ['Password2024!', 'common'],
  ['1234567890', 'common'],
  ['qwertyuiop', 'common'],
  ['8273619203', 'common'],
  ['margarete-agent', 'personal'],
  ['Margarete.Holz1985', 'personal'],
  ['margarete.holz@people.example', 'personal'],
])('%s cannot be a password: %s', (password, problem) => {
  expect(check(password)).toBe(problem)
})

test.each([
  'correct horse battery staple',
  'Ein Satz, den niemand rät.',
  'пароль моей бабушки',
  'x7!Kq-92_vLw',
  '我的密码是一个很长的句子',
])('%s can be a password', (password) => {
  expect(check(password)).toBeUndefined()
})

const listOf = (name: string): string[] =>
  z.array(z.string()).parse(require(`@zxcvbn-ts/language-common/src/${name}.json`))

test('each of the 20,000 commonest passwords is refused', () => {
  const common = listOf('passwords').slice(0, 20_000)

  expect(common).toHaveLength(20_000)
  expect(common.filter((password) => check(password) === undefined)).toEqual([])
})

test('no passphrase of five words from a list is refused', () => {
  const words = listOf('diceware')
  const random = seeded()
  const word = () => words[random.between(0, words.length - 1)]
  const passphrases = Array.from({ length: casesOf(100_000) }, () =>
    [word(), word(), word(), word(), word()].join(' '),
  )

  expect(passphrases.filter((passphrase) => check(passphrase) !== undefined)).toEqual([])
})

test('a password is right however the keyboard composed its letters, and with its own hash alone', () => {
  const stored = hashPassword(world, 'prüfe mich é')

  expect(stored).toMatch(
    /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
  )
  expect(verifyPassword(world, 'prüfe mich é'.normalize('NFD'), stored)).toBe('right')
  expect(verifyPassword(world, 'prüfe mich e', stored)).toBe('wrong')
})

test('a hash is argon2id with the pepper as its secret value, and stale once the cost changed', () => {
  const salt = new Uint8Array(16).fill(7)
  const cost = { m: 64, t: 1, p: 1 }
  const hash = argon2id('a long sentence', salt, {
    ...cost,
    key: 'a-pepper-of-the-tests-only',
    dkLen: 32,
  })
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '')
  const stored = `$argon2id$v=19$m=64,t=1,p=1$${text(salt)}$${text(hash)}`

  expect(verifyPassword(world, 'a long sentence', stored)).toBe('stale')
  const other = {
    ...world,
    config: { ...world.config, PASSWORD_PEPPER: 'another-pepper-altogether' },
  }
  expect(verifyPassword(other, 'a long sentence', stored)).toBe('wrong')
})

test('without a stored hash the same work is done', () => {
  const stored = hashPassword(world, 'a long sentence')
  const costOf = (hash: string | undefined) => {
    const before = { ...derived }
    verifyPassword(world, 'another sentence', hash)
    return { times: derived.times - before.times, blocks: derived.blocks - before.blocks }
  }

  expect(costOf(stored)).toEqual({ times: 1, blocks: 2 * 19_456 })
  expect(costOf(undefined)).toEqual(costOf(stored))
})

test('while the pepper is replaced, a wrong password takes the same work with and without a stored hash', () => {
  const PASSWORD_PEPPER = 'the-pepper-before-this the-pepper-after-that'
  const both = { ...world, config: { ...world.config, PASSWORD_PEPPER } }
  const stored = hashPassword(both, 'a long sentence')
  const timesOf = (hash: string | undefined) => {
    const before = derived.times
    expect(verifyPassword(both, 'another sentence', hash)).toBe('wrong')
    return derived.times - before
  }

  expect([timesOf(stored), timesOf(undefined)]).toEqual([2, 2])
})

test.each([
  'two  values of-sixteen-or-more',
  'a-pepper-of-the-tests-only\n',
  'short another-pepper-altogether',
])('no hash is made under %j, which is neither one value nor two', (pepper) => {
  const config = { ...world.config, PASSWORD_PEPPER: pepper }

  expect(() => hashPassword({ ...world, config }, 'correct horse')).toThrow('PASSWORD_PEPPER')
})
