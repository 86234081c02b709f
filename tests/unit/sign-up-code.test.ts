import { expect, test } from 'vitest'
import { codeDigest, createCode, createRegistrationSecret } from '../../shared/onboarding/code.ts'
import { randomBytes } from '../support/seed.ts'

const bytesOf = (draw: number) => new Uint8Array(new Uint32Array([draw]).buffer).reverse()

/** Returns a source of randomness that yields these 32-bit draws in turn. */
function drawing(...draws: number[]) {
  return { randomBytes: () => bytesOf(draws.shift() ?? 0) }
}

test.each([
  [0, '000000'],
  [7, '000007'],
  [999_999, '999999'],
  [1_000_000, '000000'],
  [4_293_999_999, '999999'],
])('the draw %i is the code %s', (draw, code) => {
  expect(createCode(drawing(draw))).toBe(code)
})

test('a draw beyond the last whole million is drawn again, so no code is likelier', () => {
  expect(createCode(drawing(2 ** 32 - 1, 4_294_000_000, 42))).toBe('000042')
})

test('every place of a code takes every digit about equally often', () => {
  const world = { randomBytes: (length: number) => randomBytes(length) }
  const counts = Array.from({ length: 6 }, () => Array.from({ length: 10 }, () => 0))
  for (let drawn = 0; drawn < 20_000; drawn += 1) {
    for (const [place, digit] of createCode(world).split('').entries()) {
      const row = counts[place]
      if (row) row[Number(digit)] = (row[Number(digit)] ?? 0) + 1
    }
  }
  // Each count is 2,000 on average; six standard deviations are 255.
  for (const count of counts.flat()) expect(Math.abs(count - 2_000)).toBeLessThan(255)
})

test('the digest of a code belongs to its address and pepper', async () => {
  const digests = [
    await codeDigest('pepper', 'a@example.com', '123456'),
    await codeDigest('pepper', 'b@example.com', '123456'),
    await codeDigest('pepper', 'a@example.com', '123457'),
    await codeDigest('salt', 'a@example.com', '123456'),
  ]
  expect(new Set(digests).size).toBe(4)
})

test('a link is 256 bits that need no escaping in an address', () => {
  expect(
    createRegistrationSecret({ randomBytes: (length) => new Uint8Array(length).fill(255) }),
  ).toBe(`${'_'.repeat(42)}8`)
})
