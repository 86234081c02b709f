/**
 * Folds characters that a reader takes for the same one into one form: letters without case and marks,
 * digits in ASCII, and nothing for all others. Secrets and answers are both folded, so variants still
 * match.
 */
/** Most UTF-16 units that a character folds to; a few ligatures would be longer. */
const foldedMax = 4
/** Most characters in the cache, beyond what texts of people contain; others are folded anew each time. */
const keptMax = 4_096

/** Letters without a decomposition, with the ASCII spelling that replaces them. */
const asciiLetters: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ħ: 'h',
  ŧ: 't',
}

const windows = new TextDecoder('windows-1252')
const kept = new Map<number, string>()
const ascii = Array.from({ length: 128 }, (_, code) => foldedNow(code))

/** Returns the folded form of a character's code; empty for all but letters and digits. */
export function folded(code: number): string {
  const known = code < 128 ? ascii[code] : kept.get(code)
  if (known !== undefined) return known
  const text = foldedNow(code)
  if (kept.size < keptMax) kept.set(code, text)
  return text
}

/** True for a combining mark, which belongs to the character before it. */
export function isMark(code: number): boolean {
  return code >= 0x300 && code <= 0x10ffff && /^\p{M}$/u.test(String.fromCodePoint(code))
}

function foldedNow(code: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return ''
  // Text served as Latin-1 is Windows-1252 and has letters there (https://encoding.spec.whatwg.org).
  const isWindows = code >= 0x80 && code < 0xa0
  const letters = (isWindows ? windows.decode(Uint8Array.of(code)) : String.fromCodePoint(code))
    .normalize('NFKC')
    // A sharp s has two capitals, and the Greek sigma has two lower-case forms.
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/gu, '')
  return Array.from(letters, (one) => asciiLetters[one] ?? one)
    .join('')
    .slice(0, foldedMax)
}
