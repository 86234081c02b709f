/**
 * Reproducible randomness: `SEED=<number>` in the environment replays the schedule that a failed test
 * printed. Only the schedule is replayed; the interleaving of threads is not.
 */
import { onTestFailed } from 'vitest'
import { fractions } from '../../scripts/local/random.ts'

export type Random = {
  /** Returns a whole number from `least` to `most`. */
  between(least: number, most: number): number
}

/** Returns the randomness of one test; the seed is printed when the test fails. */
export function seeded(): Random {
  const seed = Number(process.env['SEED'] ?? crypto.getRandomValues(new Uint32Array(1))[0])
  onTestFailed(() => console.error(`SEED=${seed} replays this schedule`))
  return randomOf(seed)
}

/** Returns randomness from one seed. */
export function randomOf(seed: number): Random {
  const next = fractions(seed)
  return { between: (least, most) => least + Math.floor(next() * (most - least + 1)) }
}
