/**
 * Decides whether a run of characters looks random, as secrets do, or is a word or number of ordinary
 * text, and whether several words together are a secret. Sentences are told from secret phrases by the
 * small words that every sentence has.
 */
import { firstIn, isTouched, matchesOf, type Span } from './text-lines.ts'
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
function isWordAboutSecrets(word: string): boolean {
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
function isNetworkAddress(run: string): boolean {
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
  const parts = wordsOfLine(written(line)).filter((part) => !/^\d{1,2}[.):]$/.test(part))
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

function wordsOfLine(line: string): string[] {
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

/** A folded text with its links, the names of secrets in it and the names of other things. */
export type NamedText = {
  text: string
  /** Returns a span as it is written. */
  written: (span: Span) => string
  links: readonly Span[]
  /** Names of codes, passwords and keys. */
  names: readonly Span[]
  others: readonly Span[]
  /** Words for actions taken with codes. */
  actions: readonly Span[]
  /** True if the mail is about codes or signing in. */
  isAbout: boolean
  /** True if the subject or the part names a code, a password or a key. */
  isNamed: boolean
}

/** Maximum number of names that are read. In a text with more, everything that looks random is sealed. */
export const namesMax = 1_000
const valueLengthMax = 1_024
const marks = '"\'«„“”「『【(*_`'

/** A run. Chinese, Japanese and Thai use no spaces, Korean adds suffixes: no secret is written in them. */
const runPattern =
  /^[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u3000-\u303f\u30fb\u30fc]+/u

/** Returns true if a short label and a colon precede an offset, without any of the sorted spans. */
export function isOtherLabel(
  text: string,
  start: number,
  naming: readonly (readonly Span[])[],
): boolean {
  const label = labelBefore(text, start)
  return label !== undefined && !naming.some((spans) => firstIn(spans, label) !== undefined)
}

/** Returns the run without spaces at an offset; undefined if it is a link or the text of one. */
export function runAt(
  { text, links }: Pick<NamedText, 'text' | 'links'>,
  at: number,
): Span | undefined {
  let start = at
  while (start < at + 3 && marks.includes(text.charAt(start) || ' ')) start += 1
  const run = runPattern.exec(text.slice(start, start + valueLengthMax))?.[0]
  if (run === undefined || /^\[[^\]\n]{0,200}\]\(/.test(text.slice(at, at + 204))) return undefined
  const closed = start === at ? run : run.replace(/["'»”」』】)*_`]{1,3}[.,;!?]?$/, '')
  const span = { start, end: start + withoutEnd(closed).length }
  return isTouched(links, span) || span.end === start ? undefined : span
}

/** Removes the sentence's punctuation, unless other such characters show that the run may end in it. */
function withoutEnd(run: string): string {
  const bare = run.replace(
    /(?:\.(?:txt|pdf|html?|csv|docx?|xlsx?|png|jpe?g|zip))?[.,;:!?)]{0,3}$/,
    '',
  )
  return /^[\p{L}\p{N}_-]*$/u.test(bare) ? bare : run
}

/** Returns the matches of a pattern: its group, or the whole match. */
export function runsOf({ text }: Pick<NamedText, 'text'>, pattern: RegExp): Span[] {
  return matchesOf(pattern, text).map(({ 0: whole, 1: group = whole, index }) => {
    const start = index + whole.indexOf(group)
    return { start, end: start + group.length }
  })
}

/** The continuation of a sentence that says when the secret expires. */
const andEnds =
  /^ (?:and|und|et|y|e|en|i|и|ve) (?:it )?(?:will |is |ist |est |es )?(?:\d|expir|valid|good|ends|works|can be|gultig|lauft|gilt|vence|caduca|scade|verloopt|geldig|wygas|действ|gecer)/u

/** Returns true if a part of a sentence ends with a run, or continues with its purpose or expiry. */
export function endsThere({ text }: NamedText, { end }: Span): boolean {
  const next = text.slice(end, end + 12)
  return (
    /^["'»”)*_]{0,3}(?:[.,;!?](?:\s|$)|\s{0,2}(?:\n|$|\(|\[))/.test(next) ||
    /^ (?:to|or|para|pour|per|um|oder|om|ou|of|aby|lub|чтобы|или|veya) /u.test(next) ||
    andEnds.test(text.slice(end, end + 24)) ||
    /^["'»”)]{0,2} ?[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u3000-\u303f]/u.test(
      next,
    )
  )
}

/** Returns true if a line begins a sentence, and does not continue one broken because of its length. */
export function beginsSentence(text: string, { start }: Span): boolean {
  let at = start
  while (at > 0 && at > start - 20 && /[ \t>*_"'`|[(-]/.test(text.charAt(at - 1))) at -= 1
  return (
    at === 0 ||
    /(?:[.!?:。！？：]\s{0,3}|[-=_*]{3}|\n[ \t]{0,8})\n[ \t]{0,8}$/.test(
      text.slice(Math.max(0, at - 24), at),
    )
  )
}

/** Words right before a colon, after which comes whom or what a secret is for. */
export const tellsWhom =
  /(?:account|user|username|name|e-?mail|address|device|contact|support|help|from|by|konto|benutzer|compte|utilisateur|cuenta|usuario|conta|utente|rekening|аккаунт\p{L}{0,3}|hesap|hesabiniz)\s?[:=]$/u

const labelMax = 60
const label = /(?:^|\n)[^\S\n]{0,8}([^:\n.!?,]{1,40}):\s{0,4}$/u

/** Returns true if a line is one or two words without punctuation, as a label in a form is. */
export function isBareLabel(line: string): boolean {
  return /^\s*[\p{L}\p{M}]{2,30}(?: [\p{L}\p{M}]{1,30})?\s*$/u.test(line)
}

/** Returns the short label with a colon that precedes an offset. */
function labelBefore(text: string, start: number): Span | undefined {
  const from = Math.max(0, start - labelMax)
  const found = label.exec(text.slice(from, start))
  if (!found || (found.index === 0 && from > 0 && !found[0].startsWith('\n'))) return undefined
  const isShort = (found[1] ?? '').trim().split(/\s+/).length <= 3
  return isShort ? { start: from + found.index, end: start } : undefined
}
