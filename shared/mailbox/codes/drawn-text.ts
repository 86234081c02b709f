/**
 * Decides whether a run of characters looks random, as secrets do, or is a word or number of ordinary
 * text, and whether several words together are a secret. Sentences are told from secret phrases by the
 * small words that every sentence has.
 */
import type { NamedText } from './named-text.ts'
import type { Span } from './spans.ts'
import words from './words.json' with { type: 'json' }

/** Words that follow the name of a secret but are not one, without accents. */
const noSecrets = new Set(words.noSecrets.join(' ').split(' '))
/** Words of which every sentence has one, besides those. */
const sentenceWords = new Set(words.ofSentences.join(' ').split(' '))

const mailbox = /^[^\s@]+@[^\s@]+\.\p{L}{2,}$/u

/** Returns true if an announced run is a secret: anything but a mail address or a word about a secret. */
export function isSecret(run: string): boolean {
  if (run.length < 3 || !/[\p{L}\p{N}]/u.test(run) || mailbox.test(bareOf(run))) return false
  return !isWordAboutSecrets(bareOf(run))
}

/** Returns true for a word that says something about a secret, or that joins other words. */
export function isWordAboutSecrets(word: string): boolean {
  return noSecrets.has(withoutAccents(word))
}

/** Returns true if a run that stands alone is a secret. Words with a capital are names and titles. */
export function isRandomAlone(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 4) return false
  return isRandomInText(run) || /^\p{Ll}\p{L}+$|^[a-z]{3,8}(?:-[a-z]{3,8}){2,}$/u.test(bare)
}

/** Returns true if a run within a text looks random: by digits, punctuation among letters, or capitals. */
export function isRandomInText(run: string): boolean {
  const bare = bareOf(run)
  // Most words are in lower case. No secret is in a script without case.
  if (/^[\p{Ll}\p{Lo}\p{M}]*$|\p{Lo}/u.test(bare)) return false
  if (!isSecret(run) || bare.length < 4 || isNumberOfText(bare)) return false
  if (/\p{N}/u.test(bare) || /^\p{Lu}+(?:-\p{Lu}+)?$/u.test(bare)) return true
  if (bare.split('-').length > 3) return true
  // Excludes its/theirs, it's, e.g. and well-known.
  if (/[\p{L}][^\p{L}\p{M}\p{N}'’./,-]+\p{L}/u.test(bare)) return true
  const rises = bare.match(/\p{Ll}\p{Lu}/gu)?.length ?? 0
  return rises > 1 || (rises === 1 && bare.length < 6) || hasMixedCase(bare)
}

/** Returns true if capitals are mixed in as in no name written together, such as GitHub or MySQL. */
function hasMixedCase(bare: string): boolean {
  if (!/^[A-Za-z]{6,}$/.test(bare) || /^[A-Z]?[a-z]+$/.test(bare)) return false
  const parts = bare.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  const isWord = (part: string) =>
    /^[A-Z]?[a-z]+$/.test(part) &&
    (/[aeiouy][a-z]/i.test(part.slice(/^[A-Z]/.test(part) ? 1 : 0)) ||
      /^.{1,4}[aeiouy]$|^[a-z]$/.test(part))
  return !parts.every(
    (part, at) => isWord(part) || (/^[A-Z]+$/.test(part) && (at === 0 || at === parts.length - 1)),
  )
}

/** Returns true for a secret without a name: four words with dashes, or a mix of kinds of characters. */
export function isSurelyRandom(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 8 || isNumberOfText(bare)) return false
  if (/^[a-z]{3,12}(?:-[a-z]{3,12}){3,11}$/.test(bare)) return true
  if (/^(?=.*\d)(?=.*[a-z])[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,7}$/i.test(bare)) return true
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\d/]
  if (!kinds.every((kind) => kind.test(bare))) return false
  const changes = bare.match(/\p{Ll}(?=[\p{Lu}\d])|\p{Lu}(?=\d)|\d(?=\p{L})/gu)?.length ?? 0
  return /[^\p{L}\d./,:@_–-]/u.test(bare) || (bare.length > 9 && changes > 2)
}

/** Counts of digits, as in 6-digit, and names that begin with a number, as in 3Bridges. */
export const countOrBrand = /^\d{1,2}(?:-\p{Ll}{3,}|\p{Lu}\p{Ll}{3,})$/u

/** Returns true for dates, times, amounts, percentages and ordinals. */
function isNumberOfText(bare: string): boolean {
  return (
    isDate(bare) ||
    /^\d{1,2}:\d\d(?::\d\d)?(?:[-–]\d{1,2}:\d\d)?$|^\d{1,3}\p{L}{1,3}$|^\d[\d.,]*%$/u.test(bare) ||
    /^\p{Sc}[\d.,' ]+$|^\d[\d.,' ]*\p{Sc}$|^(?:19|20)\d\d$/u.test(bare) ||
    isNetworkAddress(bare) ||
    countOrBrand.test(bare) ||
    /^\d{1,3}(?:[.,]\d{3})*[.,]\d\d?$/.test(bare)
  )
}

/** Returns true for a date written in numbers, which has a month, a day and a year in one of three orders. */
export function isDate(run: string): boolean {
  const parts = /^(\d{1,4})[./-](\d{1,4})[./-](\d{1,4})$/.exec(bareOf(run))?.slice(1).map(Number)
  const [first = 0, second = 0, third = 0] = parts ?? []
  const isDay = (day: number, month: number) => day > 0 && day < 32 && month > 0 && month < 13
  return isDay(first, second) || isDay(second, first) || isDay(third, second)
}

/** Returns true for an IP address of version 4 or 6. */
export function isNetworkAddress(run: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$|^[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}$/.test(bareOf(run))
}

function bareOf(run: string): string {
  return run.replace(/^[[({"'«“]/, '').replace(/[.,;:!?)\]"'»”]{1,3}$/, '')
}

function withoutAccents(word: string): string {
  const lower = word.toLowerCase()
  return /^[!-~]*$/.test(lower) ? lower : lower.normalize('NFD').replaceAll(/\p{M}/gu, '')
}

/** Returns true if a line consists of two codes or more, with or without their numbers. */
export function isRowOfCodes({ written }: Pick<NamedText, 'written'>, line: Span): boolean {
  const parts = partsOf(written(line)).filter((part) => !/^\d{1,2}[.):]$/.test(part))
  const isEven =
    parts.length > 2 &&
    parts.every((part) => /^[A-Z\d]{4,8}$/.test(part) && part.length === parts[0]?.length)
  // Excludes an abbreviation and its number, such as IBAN and the account number.
  const count = parts.filter((part) => /\d/.test(part)).length
  if (isEven && count > 0) return true
  if (count !== 0 && parts.some((part) => /^\p{Lu}{2,5}$/u.test(part))) return false
  return parts.length > 1 && parts.every((part) => /^[!-~]{4,}$/.test(part) && isRandomInText(part))
}

/** Returns true for a word of which sentences are made, or that says something about a secret. */
export function isWordOfSentence(word: string): boolean {
  const plain = withoutAccents(bareOf(word))
  return plain !== 'my' && (isWordAboutSecrets(plain) || sentenceWords.has(plain))
}

function partsOf(line: string): string[] {
  return line.split(/[\s|,]+/).filter((part) => part !== '')
}

/** Returns true for a year of the last or of this century. */
export function isYear(written: string): boolean {
  return /^(?:19|20)\d\d$/.test(written)
}

/** Returns true for at least 12 digits, 18 small letters, or 12 characters with 3 changes of kind. */
export function isRandomLooking(value: string): boolean {
  const signs = value.replaceAll(/[^A-Za-z0-9]/g, '')
  if (signs.length < 12) return false
  const changes = value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g) ?? []
  return changes.length >= 3 || /^\d{12,}$|^[a-z]{18,}$/.test(value.includes('-') ? '' : signs)
}
