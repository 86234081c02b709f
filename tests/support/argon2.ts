/**
 * Argon2id in native code in place of the JavaScript of `@noble/hashes`, in the tests' own processes
 * alone: the same bytes in a tenth of the time, which was a fifth of a whole run.
 * `tests/unit/argon2.test.ts` holds one to the other. Whatever is deployed, and every process that a
 * test starts, has the package.
 */
import { createRequire } from 'node:module'
import { hashRawSync, type Options } from '@node-rs/argon2'

type Package = typeof import('@noble/hashes/argon2.js')
type Argon2id = Package['argon2id']

const required: unknown = createRequire(import.meta.url)('@noble/hashes/argon2.js')

/** What is published. */
export const { argon2id: slowArgon2id } = required as Package

/** `Algorithm.Argon2id`, which is the package's own choice as well. */
const variant: Pick<Options, 'algorithm'> = { algorithm: 2 }

const native: Argon2id = (password, salt, { m = 2 ** 20, t = 3, p = 1, dkLen = 32, key } = {}) =>
  Uint8Array.from(
    hashRawSync(bytesOf(password), {
      ...variant,
      salt: bytesOf(salt),
      memoryCost: m,
      timeCost: t,
      parallelism: p,
      outputLen: dkLen,
      ...(key !== undefined && { secret: bytesOf(key) }),
    }),
  )

export { native as argon2id }

const bytesOf = (text: string | Uint8Array) =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text
