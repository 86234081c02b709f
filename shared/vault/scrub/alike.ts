/**
 * Bounds what the gaps in an answer reveal. An agent can make a site repeat guesses and see which of them
 * are missing, so everything that is like a secret is removed with it. The gaps then reveal only, after any
 * number of guesses, each digit's remainder modulo three or, for a secret under six characters, which
 * characters are digits, vowels and consonants. A letter of a longer secret is like itself alone, since
 * words would go missing everywhere.
 */
import { isRemovable } from '../removable.ts'

/** Function that returns the codes of all characters, or of all bytes, that are like the given one. */
export type Equivalents = (code: number) => readonly number[]

const single = Array.from({ length: 256 }, (_, code) => [code])

/** Comparison for texts that need no protection from guesses. */
export const onlyItself: Equivalents = (code) => single[code] ?? [code]

/** Returns the comparison for the characters of a secret. */
export function equivalentsOf(secret: string): Equivalents {
  const table = isRemovable(secret) ? thirds : kinds
  return (code) => table[code] ?? onlyItself(code)
}

/** For six digits, 729 to 4,096 numbers are alike, and as many reversed. */
const thirds = tableOf(['0369', '147', '258'])
const kinds = tableOf(['0123456789', 'aeiouAEIOU', 'bcdfghjklmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ'])

function tableOf(lists: readonly string[]): readonly (readonly number[] | undefined)[] {
  const table: (readonly number[] | undefined)[] = []
  for (const list of lists) {
    const codes = Array.from(list, (one) => one.charCodeAt(0))
    for (const code of codes) table[code] = codes
  }
  return table
}
