/**
 * Argon2id of Node in place of the JavaScript of `@noble/hashes`, in the tests' own processes alone:
 * the same bytes in a tenth of the time, which was a fifth of a whole run. `tests/unit/argon2.test.ts`
 * holds one to the other. Whatever is deployed, and every process that a test starts, has the package.
 */
import { argon2Sync } from 'node:crypto'
import { createRequire } from 'node:module'

type Package = typeof import('@noble/hashes/argon2.js')
type Argon2id = Package['argon2id']

const required: unknown = createRequire(import.meta.url)('@noble/hashes/argon2.js')

/** What is published. */
export const { argon2id: slowArgon2id } = required as Package

const native: Argon2id = (password, salt, { m = 2 ** 20, t = 3, p = 1, dkLen = 32, key } = {}) =>
  Uint8Array.from(
    argon2Sync('argon2id', {
      message: password,
      nonce: salt,
      memory: m,
      passes: t,
      parallelism: p,
      tagLength: dkLen,
      ...(key !== undefined && { secret: key }),
    }),
  )

export { native as argon2id }
