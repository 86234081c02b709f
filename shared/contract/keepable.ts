/**
 * Text that can be kept: PostgreSQL has no character NUL, and its JSON no unpaired surrogates. What a
 * caller sends is asked for it before anything is done, so that it is refused and no failure.
 */

/** Levels of arrays and objects in what a caller sends. */
const depthMax = 32

/** Whether all text in a JSON value can be kept, the names of its fields too. */
export function isKeepable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (depth >= depthMax) return false
  return Object.entries(value).every(([key, inner]) => {
    return isKeepable(key) && isKeepable(inner, depth + 1)
  })
}
