/**
 * Chance that can be had again: `SEED=<number>` in the environment replays the schedule that a
 * failed test printed. Only the schedule is replayed; how a machine interleaves its threads is not.
 */
import { onTestFailed } from 'vitest'

export type Random = {
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
}

/** The chance of one test; the seed is printed when the test fails. */
export function seeded(): Random {
  const seed = Number(process.env['SEED'] ?? crypto.getRandomValues(new Uint32Array(1))[0])
  onTestFailed(() => console.error(`SEED=${seed} replays this schedule`))
  return randomOf(seed)
}

/** mulberry32: 32 bits of state are enough to draw schedules from. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { between: (least, most) => least + Math.floor(next() * (most - least + 1)) }
}
