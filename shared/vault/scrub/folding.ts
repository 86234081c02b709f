/**
 * One form for everything that a reader takes for the same character: letters without case and marks,
 * digits as ASCII has them, and nothing for what stands between them. Both a secret and an answer are
 * folded, so an answer may write a secret as it likes.
 */
/** No character becomes longer; a few ligatures would. */
const foldedMax = 4
/** Others are folded anew each time; no text that a person wrote has as many. */
const keptMax = 4_096

/** Letters of their own that are written as those of ASCII where there is no room for them. */
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

/** What stands for a character, given by its code; empty for what is neither letter nor digit. */
export function folded(code: number): string {
  const known = code < 128 ? ascii[code] : kept.get(code)
  if (known !== undefined) return known
  const text = foldedNow(code)
  if (kept.size < keptMax) kept.set(code, text)
  return text
}

/** A mark, which belongs to the character before it. */
export function isMark(code: number): boolean {
  return code >= 0x300 && code <= 0x10ffff && /^\p{M}$/u.test(String.fromCodePoint(code))
}

function foldedNow(code: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return ''
  // What is served as Latin-1 has letters there (https://encoding.spec.whatwg.org).
  const isWindows = code >= 0x80 && code < 0xa0
  const letters = (isWindows ? windows.decode(Uint8Array.of(code)) : String.fromCodePoint(code))
    .normalize('NFKC')
    // A sharp s has two capitals, and one letter has two forms in Greek.
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/gu, '')
  return Array.from(letters, (one) => asciiLetters[one] ?? one)
    .join('')
    .slice(0, foldedMax)
}
