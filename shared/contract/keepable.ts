/**
 * Text that PostgreSQL can store: without NUL, and without unpaired surrogates in JSON. The input of a
 * caller is checked before anything is done, so that bad text is a refusal and not a failure.
 */

/** True if the text can be an Idempotency-Key. */
export const isIdempotencyKey = (text: string) => /^[\x21-\x7e]{1,255}$/.test(text)

/** Maximum nesting of arrays and objects in the input of a caller. */
const depthMax = 32

/** True if all text in a JSON value, field names too, can be stored and its nesting is within the limit. */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (depth >= depthMax) return false
  return Object.entries(value).every(([key, inner]) => {
    return isStorable(key) && isStorable(inner, depth + 1)
  })
}
