/**
 * Folds a text into the form in which numbers and words are searched for: lower case without accents,
 * digits of all scripts as 0 to 9, full width as half width, and one kind of dash and space. It keeps
 * the position of each character, so that a match can be located in the original text.
 */

/** The folded text. `at[i]` is where its character i begins in the original; `at[length]` is the end. */
export type FoldedText = { text: string; at: readonly number[] }

/** Folds a text. Invisible characters are removed. */
export function foldText(original: string): FoldedText {
  const at: number[] = []
  let text = ''
  let position = 0
  while (position < original.length) {
    const end = endOfAscii(original, position)
    text += original.slice(position, end).toLowerCase()
    for (; position < end; position += 1) at.push(position)
    const code = original.codePointAt(end)
    if (code === undefined) break
    const folded = foldCharacter(String.fromCodePoint(code))
    for (let unit = 0; unit < folded.length; unit += 1) at.push(end)
    text += folded
    position += code > 0xffff ? 2 : 1
  }
  at.push(position)
  return { text, at }
}

/** Returns the end of the ASCII characters at an offset, which are folded all at once. */
function endOfAscii(text: string, start: number): number {
  let end = start
  while (text.charCodeAt(end) <= lastOfAscii) end += 1
  return end
}

/** The tilde. The character after it is a control character, which is folded like rare ones. */
const lastOfAscii = 126

const known = new Map<string, string>()
const knownMax = 20_000

function foldCharacter(character: string): string {
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
  // Full-width punctuation ends a word as a space does; its half-width form alone does not.
  if (/[，：；！？]/.test(character)) return `${plain} `
  if (/\p{Nd}/u.test(plain)) return Array.from(plain, digitOf).join('')
  const lower = plain.toLowerCase()
  // Marks are accents only in these scripts; elsewhere they make another letter.
  if (!/[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(lower)) return lower
  return lower.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('ı', 'i').replaceAll('ł', 'l')
}

/** Returns the ASCII digit. Unicode has the ten digits of a script in a row, zero first. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (!/\p{Nd}/u.test(character) || code < 128) return character
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1
  return String(value)
}

/** Maximum length of a word that is too often part of others to count without the end of a word. */
const shortLength = 4

/** Returns a list of words as alternatives of a folded pattern. A dash matches what may join its parts. */
export function alternatives(list: string, endOfShort = ''): string {
  const words = foldText(list)
    .text.split(/\s+/)
    .toSorted((a, b) => b.length - a.length)
  return treeOf(
    words.map((word) => {
      const isShort =
        word.length <= shortLength && /^[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(word)
      const signs = Array.from(word, (sign) => (sign === '-' ? "[-\\s'’]{0,3}" : sign))
      return isShort ? [...signs, endOfShort] : signs
    }),
  )
}

/**
 * Returns words as alternatives, with those that begin alike in a group of their own, so that few are
 * tried at each place of a text. The order counts only among words of one group.
 */
function treeOf(words: readonly (readonly string[])[]): string {
  const isApart = words.length > 1 && words.every(([first = '']) => /^[\p{L}\p{N}]$/u.test(first))
  if (!isApart) return words.map((signs) => signs.join('')).join('|')
  return [...Map.groupBy(words, ([first = '']) => first)]
    .map(([first, alike]) => {
      const rests = treeOf(alike.map((signs) => signs.slice(1)))
      return alike.length > 1 ? `${first}(?:${rests})` : `${first}${rests}`
    })
    .join('|')
}
