/**
 * A text in the form in which numbers and words are looked for: lower case without accents, digits
 * of all scripts as 0 to 9, full width as half, every dash and space as one. It remembers where each
 * character stood, so what is found can be pointed at in the text itself.
 */

/** The folded text; `at[i]` is where its character i began, and `at[length]` the end. */
export type FoldedText = { text: string; at: readonly number[] }

/** Folds a text; what cannot be seen is gone. */
export function foldText(original: string): FoldedText {
  const at: number[] = []
  let text = ''
  let position = 0
  for (const character of original) {
    const folded = foldCharacter(character)
    for (let unit = 0; unit < folded.length; unit += 1) at.push(position)
    text += folded
    position += character.length
  }
  at.push(position)
  return { text, at }
}

const known = new Map<string, string>()
const knownMax = 20_000

function foldCharacter(character: string): string {
  if (character <= '~') return character.toLowerCase()
  const found = known.get(character)
  if (found !== undefined) return found
  const folded = foldRare(character)
  if (known.size < knownMax) known.set(character, folded)
  return folded
}

function foldRare(character: string): string {
  if (/\p{Zs}/u.test(character)) return ' '
  if (/\p{Pd}|\u2212/u.test(character)) return '-'
  if (/\p{Default_Ignorable_Code_Point}|\p{Cf}/u.test(character)) return ''
  const plain = character.normalize('NFKC')
  // They end a word as a space does, which their narrow forms alone do not.
  if (/[，：；！？]/.test(character)) return `${plain} `
  if (/\p{Nd}/u.test(plain)) return Array.from(plain, digitOf).join('')
  const lower = plain.toLowerCase()
  // Only here are marks accents; elsewhere they make another letter.
  if (!/[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(lower)) return lower
  return lower.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('ı', 'i').replaceAll('ł', 'l')
}

/** Unicode gives the digits of a script ten places in a row, zero first. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (!/\p{Nd}/u.test(character) || code < 128) return character
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1
  return String(value)
}

/** A word of so few letters is part of too many others to count without its end. */
const shortLength = 4

/** A list of words, folded, as alternatives of a pattern; a dash stands for what may be between parts. */
export function alternatives(list: string, endOfShort = ''): string {
  const words = foldText(list)
    .text.split(/\s+/)
    .toSorted((a, b) => b.length - a.length)
  return words
    .map((word) => {
      const isShort =
        word.length <= shortLength && /^[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(word)
      return word.replaceAll('-', "[-\\s'’]{0,3}") + (isShort ? endOfShort : '')
    })
    .join('|')
}
