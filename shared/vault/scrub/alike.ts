/**
 * Bounds what the gaps in an answer tell. An agent can have a site say guesses and sees which of them are
 * missing, so with a secret all is removed that is like it, and the gaps tell what that is, however many
 * guesses there are: what each digit leaves when it is divided by three, or of four or five characters
 * only which are digits, vowels and consonants. Of longer ones a letter is like itself alone, since words
 * would go missing everywhere.
 */
import { isRemovable } from '../removable.ts'

/** The codes of all characters, or of all bytes, that are like one. */
export type Alike = (code: number) => readonly number[]

const single = Array.from({ length: 256 }, (_, code) => [code])

/** For what nobody has to guess. */
export const likeNone: Alike = (code) => single[code] ?? [code]

/** Compares the characters of a secret. */
export function alikeOf(secret: string): Alike {
  const table = isRemovable(secret) ? thirds : kinds
  return (code) => table[code] ?? likeNone(code)
}

/** With six digits, 729 to 4,096 numbers are like them, and as many backwards. */
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
