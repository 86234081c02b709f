/**
 * Returns numbers that are the same for the same seed: mulberry32 by Tommy Ettinger, public domain. For
 * plans and schedules that must be repeatable, never for a secret.
 */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/** Returns the same sequence as fractions from 0 to below 1. */
export function fractions(seed: number): () => number {
  const next = mulberry32(seed)
  return () => next() / 2 ** 32
}
