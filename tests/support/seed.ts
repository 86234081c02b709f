/**
 * The one seed of a run. All random histories, amounts, names and passwords of the tests come from it:
 * `npm test` always takes 1, `npm run test:long` a new one, and both print it. `SEED=<number>` repeats a
 * run. The order in which threads and processes get to work is not repeated.
 */
import { createHash } from 'node:crypto'
import { fractions } from '../../scripts/local/random.ts'

/** Seed of this run. */
export const seed = Number(process.env['SEED'] ?? 1)

let file = ''
let drawn = 0

/** Begins the random values of a test file, which do not depend on what ran before in this process. */
export function beginFile(path: string): void {
  file = path
  drawn = 0
}

/** Returns bytes that differ from all that this file drew before. */
export function randomBytes(length: number): Buffer<ArrayBuffer> {
  drawn += 1
  const stream = createHash('shake256', { outputLength: Math.max(length, 1) })
  return Buffer.from(stream.update(`${seed} ${file} ${drawn}`).digest().subarray(0, length))
}

/** Returns a UUID version 4 (RFC 9562 section 5.4). */
export function randomUUID(): ReturnType<typeof crypto.randomUUID> {
  const hex = randomBytes(16).toString('hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** Choices from the seed, for schedules and amounts. */
export type Random = {
  /** Returns a whole number from `least` to `most`. */
  between(least: number, most: number): number
}

/** Returns the choices of one test. */
export function seeded(): Random {
  return randomOf(seed)
}

/** Returns choices from another seed. */
export function randomOf(from: number): Random {
  const next = fractions(from)
  return { between: (least, most) => least + Math.floor(next() * (most - least + 1)) }
}
