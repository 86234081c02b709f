/**
 * Finds runs of characters in a folded text that could be secrets: by what is around them, or on a line
 * of their own below the line that names or announces them.
 */
import {
  isPhrase,
  isRandomAlone,
  isRandomInText,
  isRowOfCodes,
  isSecret,
  isSurelyRandom,
} from './drawn-text.ts'
import { labelBefore, tellsWhom } from './labels.ts'
import type { Span } from './spans.ts'
import { firstIn, isTouched, matchesOf } from './spans.ts'

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

/** The context of lines: after a colon, below a line with a name, below a heading, or words of a phrase. */
export type LineContext = 'announced' | 'unannounced' | 'heading' | 'phrase'

/** Maximum number of lines in a list of codes. */
const linesMax = 40
const lineLengthMax = 1_024
const announcingMax = 2_000

/** Returns the rest of the line at an offset; undefined if it is only punctuation and space. */
export function restOfLine(text: string, at: number): Span | undefined {
  const line = text.slice(at, at + lineLengthMax)
  const length = line.indexOf('\n')
  const whole = length === -1 ? line : line.slice(0, length)
  const start = whole.search(/[^\s*_>`|-]/)
  return start === -1 ? undefined : { start: at + start, end: at + whole.length }
}

/** Returns lines of one secret each, beginning with the next line that is not empty. */
export function linesFrom(page: NamedText, from: number, context: LineContext): Span[] {
  const found: Span[] = []
  let [at, next] = [from, context]
  while (found.length < linesMax) {
    const gap = /^[^\S\n]{0,20}(?:\n[^\S\n]{0,20}){1,4}/.exec(page.text.slice(at, at + 120))?.[0]
    const line = gap === undefined ? undefined : restOfLine(page.text, at + gap.length)
    const value = line && valueOfLine(page, line, next)
    if (!line || !value) break
    found.push(value)
    at = line.end
    // A line of words is followed by more of them.
    next = isPhrase(page, value, 2) ? 'announced' : 'unannounced'
  }
  return found
}

/** Returns what stands alone below a line that ends in a colon, in a mail about codes. */
export function belowColons(page: NamedText): Span[] {
  if (!page.isAbout) return []
  const colons = [...page.text.matchAll(/:[ \t*_]{0,4}\n/g)].slice(0, announcingMax)
  return colons.flatMap(({ index }) => {
    const from = Math.max(0, index - 120)
    const start = from + page.text.slice(from, index).lastIndexOf('\n') + 1
    const line = { start, end: index }
    const words = page.text.slice(start, index + 1)
    const isLabel = isOtherLabel(page.text, index + 1, [page.names, page.actions])
    if (isLabel || tellsWhom.test(words)) return []
    const isOther = firstIn(page.others, line) !== undefined
    const lines = linesFrom(page, index + 1, 'unannounced')
    // There is only one single code; rows of codes and of words continue.
    return lines.filter(
      (row, at) => (at === 0 && !isOther) || isPhrase(page, row, 3) || isRowOfCodes(page, row),
    )
  })
}

/** Returns true if the line above was broken because of its length, so its sentence continues here. */
function isRest(text: string, { start }: Span): boolean {
  const above = text.slice(Math.max(0, start - 90), start).replace(/\n[^\n]{0,20}$/, '')
  const line = above.slice(above.lastIndexOf('\n') + 1)
  return line.length > 35 && line.length < 82 && /[^\s.!?:]$/.test(line)
}

function valueOfLine(page: NamedText, line: Span, context: LineContext): Span | undefined {
  const text = page.text.slice(line.start, line.end)
  if (context === 'phrase') return { start: line.start, end: line.start + text.trimEnd().length }
  const lead = /^["'«„“”(*_>`-]{0,4}(?:\d{1,2}[.)][ \t]{1,3})?/.exec(text)?.[0].length ?? 0
  const whole = { start: line.start + lead, end: line.start + text.trimEnd().length }
  // Cells of a table, one character each.
  if (/^\S(?: \S){3,63}$/.test(page.text.slice(whole.start, whole.end))) return whole
  const row = { start: line.start, end: whole.end }
  if (isRowOfCodes(page, row)) return row
  if (context === 'announced' ? isPhrase(page, row, 3) : isPhraseApart(page, row)) return row
  const value = runAt(page, whole.start)
  if (!value || /[^\s"'»”)*_`|.,:;!?-]/.test(page.text.slice(value.end, whole.end)))
    return undefined
  const written = page.written(value)
  if (context === 'announced') return isSecret(written) ? value : undefined
  if (isRest(page.text, line)) return undefined
  const isWord =
    value.end < whole.end || (context !== 'heading' && !beginsSentence(page.text, value))
  const isMixed =
    context === 'heading' &&
    /^(?=.*\p{Lu}\p{Lu}|.*\p{Ll}\p{Lu})(?=.*\p{Ll})\p{L}{6,64}$/u.test(written)
  return isMixed || (isWord ? isRandomInText(written) : isRandomAlone(written)) ? value : undefined
}

/** Returns true if a phrase stands by itself, before the end of its line. */
function isPhraseApart(page: NamedText, row: Span): boolean {
  const next = page.text.slice(row.end, row.end + 24)
  return (
    /^[.]?[^\S\n]{0,8}(?:\n|\s{0,8}$)/.test(next) &&
    isPhrase(page, row, 4) &&
    beginsSentence(page.text, row)
  )
}

/** Returns the values that follow a secret in a list, as long as they look random. Spaces join equal lengths. */
export function nextInList(page: NamedText, { start, end }: Span): Span[] {
  const size = end - start
  const found: Span[] = []
  for (let at = end; found.length < linesMax; ) {
    const gap = /^(?: ?[,;|/]| and| or|)[ \t]{1,3}(?:and |or )?/.exec(
      page.text.slice(at, at + 12),
    )?.[0]
    const next = gap === undefined ? undefined : runAt(page, at + gap.length)
    if (!next || !isRandomInText(page.written(next))) break
    if (gap?.trim() === '' && next.end - next.start !== size) break
    found.push(next)
    at = next.end
  }
  return found
}

/** Number of characters after a name in which its secret begins. */
const randomValueReach = 1_000
/** A colon or a verb anywhere after a name on its line. */
const sayingSomewhere =
  /(?:[:=]|(?<=\s)(?:is|are|ist|lautet|est|sont|es|son|sao|zijn|luidt|to|jest|brzmi|это|ar|er|on|je|este))[ \t]{1,4}(?=\S)/gu

/**
 * Returns random-looking values that a colon or a verb assigns to a name on its line. A password may be
 * of digits. The purpose comes in between; a member of a site may have named it, at any length, with
 * other numbers or with the end of a sentence.
 */
export function randomValuesOnLine(page: NamedText, name: Span, isPassword: boolean): Span[] {
  const line = page.text.slice(name.end, name.end + randomValueReach).split('\n', 1)[0] ?? ''
  return [...line.matchAll(sayingSomewhere)].flatMap(({ 0: said, index }) => {
    const value = runAt(page, name.end + index + said.length)
    const written = value ? page.written(value) : ''
    const isNumber = isPassword && /^\d{6,12}[.]?$/.test(written)
    return value && (isNumber || isSurelyRandom(written)) ? [value] : []
  })
}
