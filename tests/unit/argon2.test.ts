/** The fast hash of the tests gives the same result as the product's, at the same costs. */
import { expect, test } from 'vitest'
import { argon2id, slowArgon2id } from '../support/argon2.ts'

const bytes = (length: number, from: number) =>
  Uint8Array.from({ length }, (_, i) => (i * 37 + from) % 256)

test.each([
  { m: 19_456, t: 2, p: 1, dkLen: 32, key: bytes(32, 5) },
  { m: 64, t: 3, p: 4, dkLen: 16 },
  { m: 64, t: 1, p: 1, dkLen: 64, key: bytes(1, 9) },
])('argon2id of the tests is that of the package with %o', (options) => {
  for (const [password, salt] of [
    [bytes(12, 1), bytes(16, 2)],
    [new TextEncoder().encode('pässwörd 🔑'), bytes(8, 3)],
  ] as const) {
    const fast = argon2id(password, salt, options)
    expect(Buffer.from(fast).toString('hex')).toBe(
      Buffer.from(slowArgon2id(password, salt, options)).toString('hex'),
    )
  }
})
