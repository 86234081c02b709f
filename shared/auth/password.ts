/**
 * Passwords: the rules for them and their stored form, argon2id (RFC 9106) with a pepper as secret value,
 * in PHC form. Hashing is synchronous, so an isolate never holds the memory of two hashes at once. The
 * database limits the number of attempts.
 */
import { argon2id } from '@noble/hashes/argon2.js'
import { decodeBytes, encodeBase64 } from '../base64.ts'
import { secretValues } from '../env.ts'
import type { World } from '../world.ts'
import { commonPasswords } from './common-passwords.ts'

/** Minimum cost of argon2id in OWASP's password storage cheat sheet (2025). */
const cost = { m: 19_456, t: 2, p: 1 }
const saltBytes = 16
const hashBytes = 32
const lengthMin = 10
const lengthMax = 256

/** Reason why a text cannot be a password. */
export type PasswordProblem = 'too_short' | 'too_long' | 'common' | 'personal' | 'same'

/** Sentence for each problem, shown to the owner. */
export const passwordProblems: Readonly<Record<PasswordProblem, string>> = {
  too_short: 'Use at least 10 characters.',
  too_long: 'Use at most 256 characters.',
  common: 'This is one of the passwords that are guessed first. Choose another.',
  personal: 'This is too close to your own name. Choose another.',
  same: 'This is the password that you have. Choose another.',
}

/** Returns why a text cannot be this owner's password; undefined if it can. */
export function checkPassword(
  password: string,
  owner: { email: string; alias: string },
): PasswordProblem | undefined {
  const text = normal(password)
  const { length } = Array.from(text)
  if (length < lengthMin) return 'too_short'
  if (length > lengthMax) return 'too_long'
  const [mailbox = ''] = owner.email.split('@')
  const own = [owner.email, mailbox, owner.alias].map(stem)
  // Many good passwords contain a name of up to three letters.
  if (own.some((name) => name.length > 3 && stem(text) === name)) return 'personal'
  if (stem(text) === '' || isCommonPassword(text.toLowerCase()) || isCommonPassword(stem(text)))
    return 'common'
  return undefined
}

let common: ReadonlySet<string> | undefined

function isCommonPassword(text: string): boolean {
  common ??= new Set(commonPasswords.split(' '))
  return common.has(text)
}

/** Returns the PHC string under which a password is stored. */
export function hashPassword(world: World, password: string): string {
  const salt = world.randomBytes(saltBytes)
  const { m, t, p } = cost
  const [pepper] = secretValues(world.config, 'PASSWORD_PEPPER')
  const hash = derive(pepper, password, salt, cost)
  return `$argon2id$v=19$m=${m},t=${t},p=${p}$${unpadded(salt)}$${unpadded(hash)}`
}

/**
 * Compares a password with its stored hash; `stale` means right, but due for a new hash at the current
 * cost and under the pepper that comes first. Without a stored hash it does the same work, so that the time does not show whether one exists.
 */
export function verifyPassword(
  world: World,
  password: string,
  stored: string | undefined,
): 'right' | 'stale' | 'wrong' {
  const read = stored === undefined ? undefined : parseHash(stored)
  const from = read ?? { salt: new Uint8Array(saltBytes), cost }
  const place = secretValues(world.config, 'PASSWORD_PEPPER').findIndex((pepper) => {
    const hash = derive(pepper, password, from.salt, from.cost)
    return read !== undefined && isEqual(hash, read.hash)
  })
  if (!read || place < 0) return 'wrong'
  const isCurrent = read.cost.m === cost.m && read.cost.t === cost.t && read.cost.p === cost.p
  return isCurrent && place === 0 ? 'right' : 'stale'
}

function derive(key: string, password: string, salt: Uint8Array, { m, t, p }: typeof cost) {
  return argon2id(normal(password), salt, {
    m,
    t,
    p,
    key,
    dkLen: hashBytes,
  })
}

const phc =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

function parseHash(stored: string) {
  const [, m, t, p, salt = '', hash = ''] = phc.exec(stored) ?? []
  const read = { salt: decodeBytes(salt), hash: decodeBytes(hash) }
  if (!m || !read.salt || !read.hash) throw new Error('a stored password hash cannot be read')
  return { salt: read.salt, hash: read.hash, cost: { m: Number(m), t: Number(t), p: Number(p) } }
}

/** Normalizes a password (NFKC), so that the way a keyboard composed it does not matter. */
function normal(password: string): string {
  // Nobody types more than this, and the work of a hash grows with the length.
  return password.normalize('NFKC').slice(0, 4 * lengthMax)
}

function unpadded(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('=', '')
}

/** Returns a password without the digits and signs that people append to satisfy rules. */
function stem(text: string): string {
  return /^.*\p{L}/su.exec(normal(text).toLowerCase())?.[0] ?? ''
}

/** Compares in constant time. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at += 1) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}
