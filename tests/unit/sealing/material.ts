/** Roots and random bytes for tests that seal, and the smallest possible damage. */
import { type Purpose, readRoots } from '../../../shared/sealing/roots.ts'
import { randomBytes } from '../../support/seed.ts'

export const random = (length: number) => new Uint8Array(randomBytes(length))

export const root = (fill: number) => Buffer.alloc(32, fill).toString('base64')

export const rootsOf = (purpose: Purpose, ...versions: number[]) =>
  readRoots(JSON.stringify(Object.fromEntries(versions.map((v) => [v, root(v)]))), purpose)

/** Yields every copy of `original` with one bit flipped. */
export function* bitFlips(original: Uint8Array): Generator<Uint8Array> {
  for (let bit = 0; bit < original.length * 8; bit += 1) {
    const flipped = Uint8Array.from(original)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    yield flipped
  }
}
