/**
 * Finds secrets that an answer writes differently: with other quotes, dashes or spaces, without marks, in
 * other cases, or broken into lines, words or boxes. It compares letters and digits alone, so it looks only
 * for secrets that have too many of them to occur by chance.
 */
import { folded, isMark } from './folding.ts'
import { type Finder, finderOf } from './needles.ts'
import type { Range } from './range.ts'
import { type Skeleton, skeletonOf } from './skeleton.ts'
import type { ReadUnits, Units } from './units.ts'

/** Letters of a secret, with the number of other characters before the first and behind the last. */
type FoldedSecret = { letters: readonly number[]; before: number; behind: number }

/** German spelling without umlauts. */
const umlauts: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' }

/**
 * Prepares a search that can be used for any number of UTF-8 texts: for secrets and texts that are like
 * them in their digits, and for tokens exactly.
 */
export function foldedSearchFor(
  { secrets, tokens = [] }: { secrets: readonly string[]; tokens?: readonly string[] },
  read: ReadUnits,
): (bytes: Uint8Array) => Range[] {
  const find = finderFor(needlesOf(secrets, read), needlesOf(tokens, read))
  if (find === undefined) return () => []
  return (bytes) => {
    const ranges: Range[] = []
    for (const units of readingsOf(bytes, read)) {
      for (const isPage of holdsTag(units) ? [false, true] : [false]) {
        const skeleton = skeletonOf(units, isPage)
        find(skeleton.letters, (needle, first, last) => {
          ranges.push(rangeOf(units, skeleton, { needle, first, last }))
        })
      }
    }
    return ranges
  }
}

function needlesOf(texts: readonly string[], read: ReadUnits): FoldedSecret[] {
  return [...new Set(texts)].flatMap((text) => formsOf(text, read))
}

/** Compares the digits of secrets as scrub/alike.ts says; returns undefined if there is nothing to find. */
function finderFor(
  secrets: readonly FoldedSecret[],
  tokens: readonly FoldedSecret[],
): Finder<FoldedSecret> | undefined {
  const findToken = tokens.length > 0 ? finderOf(tokens) : undefined
  if (secrets.length === 0) return findToken
  const find = finderOf(secrets.map((one) => ({ ...one, letters: one.letters.map(alikeLetter) })))
  return (letters, found) => {
    find(letters.map(alikeLetter), found)
    findToken?.(letters, found)
  }
}

/** Maps all digits that are alike to one letter. */
function alikeLetter(letter: number): number {
  return letter >= 0x30 && letter <= 0x39 ? 0x30 + (letter % 3) : letter
}

/** Reads the bytes as a page, and also as a mail if they may be one. */
function readingsOf(bytes: Uint8Array, read: ReadUnits): Units[] {
  const readings = [read(bytes, false)]
  if (mayBeMail(bytes)) readings.push(read(bytes, true))
  return readings
}

/** True if an equals sign stands before two hexadecimal digits (RFC 2045 section 6.7). */
function mayBeMail(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0x3d); at !== -1; at = bytes.indexOf(0x3d, at + 1)) {
    const digits = String.fromCharCode(...bytes.subarray(at + 1, at + 3))
    if (/^[0-9A-Fa-f]{2}$/.test(digits)) return true
  }
  return false
}

function holdsTag({ codes, count }: Units): boolean {
  const at = codes.indexOf(0x3c)
  return at !== -1 && at < count
}

/** Returns the secret plain, reversed, without its own escapes or tags, and with umlauts spelled out. */
function formsOf(secret: string, read: ReadUnits): FoldedSecret[] {
  const characters = Array.from(secret)
  const opened = read(new TextEncoder().encode(secret), false)
  const spelled = secret
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[äöü]/g, (one) => umlauts[one] ?? one)
  const plain = foldedLettersOf(characters)
  const before = characters.findIndex((one) => foldedLettersOf([one]).length > 0)
  const behind = characters.toReversed().findIndex((one) => foldedLettersOf([one]).length > 0)
  const all = [
    plain,
    plain.toReversed(),
    foldedLettersOf(Array.from(spelled)),
    // A site writes the characters that it cannot store as question marks, or leaves them out.
    foldedLettersOf(characters.filter((one) => one < '\x80')),
    ...[false, true].map((isPage) => skeletonOf(opened, isPage).letters),
  ]
  const distinct = [...new Map(all.map((letters) => [letters.join(), letters])).values()]
  return distinct.filter(isDistinctive).map((letters) => ({ letters, before, behind }))
}

function foldedLettersOf(characters: readonly string[]): number[] {
  return characters.flatMap((one) =>
    folded(one.codePointAt(0) ?? 0)
      .split('')
      .map((unit) => unit.charCodeAt(0)),
  )
}

/** True if letters are unlikely to occur by chance, as words or numbers alone do sooner than a mixture. */
function isDistinctive(letters: readonly number[]): boolean {
  const digits = letters.filter((letter) => letter >= 0x30 && letter <= 0x39).length
  if (digits === letters.length) return letters.length >= 9
  const isWord = digits === 0 && letters.every((letter) => letter < 128)
  return letters.length >= (isWord ? 8 : 6)
}

/** Returns the range from the first to the last unit, with its marks and the secret's own outer signs. */
function rangeOf(
  { codes, starts, ends, count }: Units,
  { madeOf }: Skeleton,
  { needle, first, last }: { needle: FoldedSecret; first: number; last: number },
): Range {
  let [start, end] = [madeOf[first] ?? 0, madeOf[last] ?? 0]
  const lower = first === 0 ? -1 : (madeOf[first - 1] ?? 0)
  const upper = madeOf[last + 1] ?? count
  start = Math.max(Math.min(start, lower + 1), start - needle.before)
  while (end + 1 < upper && isMark(codes[end + 1] ?? 0)) end += 1
  end = Math.max(end, Math.min(upper - 1, end + needle.behind))
  return { start: starts[start] ?? 0, end: ends[end] ?? 0 }
}
