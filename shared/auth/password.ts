/**
 * Passwords: what may be one, and how one is kept: argon2id (RFC 9106) with a pepper as its secret
 * value, in PHC form. The work is done in one go, so an isolate never holds the memory of two at
 * once. How often anybody may try is limited in the database.
 */
import { argon2id } from '@noble/hashes/argon2.js'
import { decodeBytes, encodeBase64 } from '../base64.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { isGuessedFirst } from './guessed-first.ts'

/** The least that OWASP's password storage cheat sheet (2025) names for argon2id. */
const cost = { m: 19_456, t: 2, p: 1 }
const saltBytes = 16
const hashBytes = 32
const lengthMin = 10
const lengthMax = 256

/** Why a text cannot be a password. */
export type PasswordProblem = 'too_short' | 'too_long' | 'common' | 'personal'

/** What is wrong with a password, as people read it. */
export const passwordProblems: Readonly<Record<PasswordProblem, string>> = {
  too_short: 'Use at least 10 characters.',
  too_long: 'Use at most 256 characters.',
  common: 'This is one of the passwords that are guessed first. Choose another.',
  personal: 'This is too close to your own name. Choose another.',
}

/**
 * Why a text cannot be this owner's password; undefined when it can. Of 400 good passwords about one
 * is taken for a common one, because only 24 bits of each are compared.
 */
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
  // A name that is hardly longer than nothing is in many good passwords.
  if (own.some((name) => name.length > 3 && stem(text) === name)) return 'personal'
  if (stem(text) === '' || isGuessedFirst(text.toLowerCase()) || isGuessedFirst(stem(text)))
    return 'common'
  return undefined
}

/** A password as it is stored. */
export function hashPassword(world: World, password: string): string {
  const salt = world.randomBytes(saltBytes)
  const { m, t, p } = cost
  return `$argon2id$v=19$m=${m},t=${t},p=${p}$${unpadded(salt)}$${unpadded(derive(world, password, salt, cost))}`
}

/**
 * Whether this is the password, `stale` where its hash should be made anew. Without a stored one the
 * same work is done for nothing, so that time does not tell whether there is one.
 */
export function verifyPassword(
  world: World,
  password: string,
  stored: string | undefined,
): 'right' | 'stale' | 'wrong' {
  const read = stored === undefined ? undefined : parse(stored)
  if (!read) {
    derive(world, password, new Uint8Array(saltBytes), cost)
    return 'wrong'
  }
  if (!isEqual(derive(world, password, read.salt, read.cost), read.hash)) return 'wrong'
  const isCurrent = read.cost.m === cost.m && read.cost.t === cost.t && read.cost.p === cost.p
  return isCurrent ? 'right' : 'stale'
}

function derive(world: World, password: string, salt: Uint8Array, { m, t, p }: typeof cost) {
  const key = required(world.config, 'PASSWORD_PEPPER')
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

function parse(stored: string) {
  const [, m, t, p, salt = '', hash = ''] = phc.exec(stored) ?? []
  const read = { salt: decodeBytes(salt), hash: decodeBytes(hash) }
  if (!m || !read.salt || !read.hash) throw new Error('a stored password hash cannot be read')
  return { salt: read.salt, hash: read.hash, cost: { m: Number(m), t: Number(t), p: Number(p) } }
}

/** The same text however a keyboard composed it. */
function normal(password: string): string {
  // Nobody types more, and the work of a hash grows with it.
  return password.normalize('NFKC').slice(0, 4 * lengthMax)
}

function unpadded(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('=', '')
}

/** A password without what people hang on at its end to satisfy rules. */
function stem(text: string): string {
  return /^.*\p{L}/su.exec(normal(text).toLowerCase())?.[0] ?? ''
}

/** Compares without telling by its time where two values part. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at += 1) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}
