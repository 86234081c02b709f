/**
 * Finds secrets by how they are set apart from the name before them, also words that would be no secret
 * elsewhere: what ends the line of a label, as in Password: Blue Moon 42, and what quotation marks,
 * brackets or commas enclose. The words of a sentence about the name are left.
 */
import { isRandomAlone, isRandomInText, isSecret, isWordOfSentence } from './drawn-text.ts'
import { restAfter } from './name-lines.ts'
import { passwordPattern, phraseName, weakName } from './secret-words.ts'
import type { Span } from './spans.ts'
import { isTouched, spanAt } from './spans.ts'
import { lineEnd, lineStart } from './text-lines.ts'
import { type NamedText, namesMax } from './value-lines.ts'

/** The words of a label before its name, from the beginning of its line or of a part of it. */
const beginning = /(?:^|[,;|/.!?\d] )[\s>*|_•·-]{0,8}(?:\p{L}{1,14}[ '-]){0,3}\p{L}{0,20}$/u
const verbs =
  '(?:is|will be|are|ist|lautet|est|sera|es|sara|sao|luidt|to jest|jest|bedzie|это)(?: now| from now on)?'
/** The signs or the verb between a name and what ends its line. */
const joining = new RegExp(
  `^\\p{L}{0,14}(?: ?\\([^()\\n]{1,30}\\))?[*_]{0,3}(?:(?: ${verbs})? ?[:=]|(?<verb> ${verbs})(?= )| ?-?-?[>→] ?|(?<dash> --?(?= )))[ \\t*_]{0,6}`,
  'u',
)
/** Quotation marks or brackets around a value, behind a name or what joins it. */
const enclosed =
  /^(?:["“«„](?<quoted>[^"“”»\n]{2,200})["”»]|[([{<](?<held>[^\s()[\]{}<>]{2,64})[)\]}>])/u
const betweenCommas =
  /^\p{L}{0,14}, (?<value>[^\s,]{4,64})(?:,(?! (?:and|or|und|oder|et|ou|y|o|e)(?!\p{L}))|\.?$)/u
/** Words of a label that say what to do about a secret, beside the names of actions. */
const doing =
  /reset|chang|updat|creat|manag|forg|lost|help|vergess|oubli|olvid|dimentic|esquec|vergeten|zapomn|забыл|unut/u
/** Values of two names that a sentence or a label gives together, the second of which is the secret's. */
const both =
  /^\p{L}{0,14}(?: (?:are|sind|lauten|sont|son|sono|sao|zijn|to|это)(?: now)?:?|:) [^\s,]{2,64},? (?:and|und|et|y|e|en|i|и) (?<value>\S{3,64}?)[.!]?(?:\s|$)/u
const bothBySigns =
  /^\p{L}{0,14}(?:(?: (?:for|fur|pour|para|per|voor|dla|для))?:?) ?\p{L}[^\s,/&+]{1,63} ?[/&+] ?(?<value>[^\s/]\S{4,63}?)[.!]?(?:\s|$)/u
const wordsMax = 4

/** Returns the values that are set apart from the names of a text. */
export function labelledValues(page: NamedText): Span[] {
  if (page.names.length > namesMax) return []
  return page.names.flatMap((name) => {
    const rest = page.text.slice(name.end, lineEnd(page.text, name.end))
    return (
      digitsOfLabel(page, name, rest) ??
      enclosedValue(page, name, restAfter(page.text, name)) ??
      valueBetweenCommas(page, name, rest) ??
      secondOfTwo(page, name, rest) ??
      restOfLabel(page, name, rest) ??
      []
    )
  })
}

function isWeak({ text }: NamedText, name: Span): boolean {
  return weakName.test(text.slice(name.start, name.end))
}

function isPassword({ text }: NamedText, name: Span): boolean {
  return text.slice(name.start, name.end).search(passwordPattern) !== -1
}

function wordsIn(text: string): string[] {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))
}

function enclosedValue(page: NamedText, name: Span, rest: string): Span | undefined {
  if (isWeak(page, name)) return undefined
  const joint = joining.exec(rest)?.[0] ?? /^\p{L}{0,14} ?/u.exec(rest)?.[0] ?? ''
  const { quoted, held } = enclosed.exec(rest.slice(joint.length))?.groups ?? {}
  const inner = quoted ?? held
  if (inner === undefined) return undefined
  const value = spanAt(name.end + joint.length + 1, inner)
  const isLoose = !/[ :=>-]/.test(joint.trimEnd())
  if (isTouched(page.links, value)) return undefined
  const count = wordsIn(inner).length
  const isOfWords = phraseName.test(page.text.slice(name.start, name.end))
  if (count > 1)
    return isOfWords || (count <= wordsMax && isPassword(page, name)) ? value : undefined
  const written = page.written(value)
  const isRandom = quoted === undefined && joint.trim() === '' ? isRandomAlone : isRandomInText
  if (isLoose) return isRandom(written) ? value : undefined
  return /[:=]/.test(joint) || isSecret(written) ? value : undefined
}

function valueBetweenCommas(page: NamedText, name: Span, rest: string): Span | undefined {
  const value = groupOf(name, betweenCommas.exec(rest))
  return value && !isWeak(page, name) && isRandomInText(page.written(value)) ? value : undefined
}

function secondOfTwo(page: NamedText, name: Span, rest: string): Span | undefined {
  const said = groupOf(name, both.exec(rest))
  const value = said ?? groupOf(name, bothBySigns.exec(rest))
  if (!value || !isPassword(page, name) || isTouched(page.names, value)) return undefined
  return (said ? isRandomAlone : isRandomInText)(page.written(value)) ? value : undefined
}

/** Returns the group at the end of a match behind a name. */
function groupOf(name: Span, found: RegExpExecArray | null): Span | undefined {
  const value = found?.groups?.['value']
  return found && value ? spanAt(name.end + found[0].lastIndexOf(value), value) : undefined
}

/** End of the line of a label, and how it is joined to the name. */
type LineEnd = { value: Span; line: string; label: string; joint: string; isBound: boolean }

function endOfLabel(page: NamedText, name: Span, rest: string): LineEnd | undefined {
  const found = joining.exec(rest)
  const label = page.text.slice(lineStart(page.text, name.start, labelMax), name.start)
  if (!found || !beginning.test(label)) return undefined
  const [joint] = found
  const line = rest.slice(joint.length).replace(/[.]?[\s*_]{0,8}$/, '')
  const value = spanAt(name.end + joint.length, line)
  const isBound = found.groups?.['verb'] === undefined && found.groups?.['dash'] === undefined
  return { value, line, label, joint, isBound }
}

/** Returns four digits or more that end the line of a label, in groups that one kind of sign divides. */
function digitsOfLabel(page: NamedText, name: Span, rest: string): Span | undefined {
  const end = endOfLabel(page, name, rest)
  if (!end || !/^(?:[^\p{L}\d]*\d){4,64}[^\p{L}\d]*$/u.test(end.line)) return undefined
  return /\d[.,:]\d/.test(end.line) && /\d\s+\d/.test(end.line) ? undefined : end.value
}

/** Returns what ends the line of a label: one run of any kind, or a short phrase. */
function restOfLabel(page: NamedText, name: Span, rest: string): Span | undefined {
  const end = endOfLabel(page, name, rest)
  if (!end || isWeak(page, name) || end.line.includes('](')) return undefined
  const { value, line, isBound } = end
  if (line === '' && isBound) return phraseBelow(page, name, value.end)
  if (wordsIn(line).length > 1) {
    const phrase = spanAt(value.start, line.split(/[,;] | \(| - /, 1)[0] ?? '')
    return !end.joint.endsWith('=') && isShortPhrase(page, name, phrase, isBound)
      ? phrase
      : undefined
  }
  if (!/^\S{2,}$/.test(line) || /^[([{]/.test(line)) return undefined
  if (isTouched(page.links, value) || line.includes('@'))
    return isBound && isAddressAsSecret(page, name, end) ? value : undefined
  const isAlone = isRandomAlone(page.written(value)) && !isPassive(end.joint, line)
  return isBound || isAlone ? value : undefined
}

/** Returns a short phrase with a digit that is the line below a label, unless it is numbered. */
function phraseBelow(page: NamedText, name: Span, end: number): Span | undefined {
  const [whole = '', gap = '', words = ''] =
    /^([^\S\n]{0,8}\n\s{0,12})((?!\d{1,2}[.)] )[^\s\n][^\n]{0,60})(?:\n|$)/.exec(
      page.text.slice(end, end + 90),
    ) ?? []
  const value = spanAt(end + gap.length, words.trimEnd())
  return whole !== '' && isShortPhrase(page, name, value, false) ? value : undefined
}

const labelMax = 70

/** Returns true for what will be done with a secret, as in will be deleted. */
function isPassive(joint: string, line: string): boolean {
  return /be\b/.test(joint) && /^[a-z]+ed$/.test(line)
}

/**
 * Returns true for two to four words without one of a sentence. Without a colon, one needs a digit. Small
 * words behind what looks random only tell about it.
 */
function isShortPhrase(page: NamedText, name: Span, value: Span, isBound: boolean): boolean {
  const written = page.written(value)
  const words = wordsIn(written)
  if (words.length < 2 || words.length > wordsMax || !isPassword(page, name)) return false
  const [first = '', ...others] = words
  if (isRandomInText(first) && others.every((word) => /^\p{Ll}+$/u.test(word))) return false
  if (/[:,;]\s/.test(written)) return false
  if ([page.names, page.others, page.actions, page.links].some((spans) => isTouched(spans, value)))
    return false
  return (isBound || /\d/.test(written)) && !words.some(isWordOfSentence)
}

/** Returns true for an address without a path, which leads to nothing about a password. */
function isAddressAsSecret(page: NamedText, name: Span, { label, line }: LineEnd): boolean {
  const before = { start: name.start - label.length, end: name.start }
  if (!isPassword(page, name) || doing.test(label) || isTouched(page.actions, before)) return false
  return /^(?:\w{2,12}:\/\/)?[^\s/?#]+$/.test(line)
}
