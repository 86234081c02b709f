/**
 * Runs of signs in a folded text that could be secrets: what stands around them, and those that stand on
 * a line of their own below the line that names or announces them.
 */
import {
  isDrawn,
  isDrawnForSure,
  isPhrase,
  isRowOfCodes,
  isSecret,
  looksDrawn,
} from './drawn-text.ts'
import type { Span } from './spans.ts'
import { firstIn, isTouched } from './spans.ts'

/** A folded text with its links, the names in it and the words that name other things. */
export type NamedText = {
  text: string
  /** A stretch as it is written. */
  written: (span: Span) => string
  links: readonly Span[]
  /** Names of codes, passwords and keys. */
  names: readonly Span[]
  others: readonly Span[]
  /** Words of what is done with codes. */
  actions: readonly Span[]
  /** The mail speaks of codes, or of signing in. */
  isAbout: boolean
  /** The subject or the part names a code, a password or a key. */
  isNamed: boolean
}

const valueLengthMax = 1_024
const marks = '"\'«„“”「『【(*_`'

/** Chinese, Japanese and Thai have no spaces, Korean puts endings right behind; no secret is written in them. */
const runPattern =
  /^[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u3000-\u303f\u30fb\u30fc]+/u

/** Words right before a colon after which comes whom or what a secret is for. */
export const tellsWhom =
  /(?:account|user|username|name|e-?mail|address|device|contact|support|help|from|by|konto|benutzer|compte|utilisateur|cuenta|usuario|conta|utente|rekening|аккаунт\p{L}{0,3}|hesap|hesabiniz)\s?[:=]$/u

const labelMax = 60
const label = /(?:^|\n)[^\S\n]{0,8}([^:\n.!?,]{1,40}):\s{0,4}$/u

/** Whether a line is of one or two words without a mark, as a label in a form is. */
export function isBareLabel(line: string): boolean {
  return /^\s*[\p{L}\p{M}]{2,30}(?: [\p{L}\p{M}]{1,30})?\s*$/u.test(line)
}

/** Whether a short label and a colon stand right before a place, and none of the sorted spans in the label. */
export function isOtherLabel(
  text: string,
  start: number,
  naming: readonly (readonly Span[])[],
): boolean {
  const from = Math.max(0, start - labelMax)
  const found = label.exec(text.slice(from, start))
  if (!found || (found.index === 0 && from > 0 && !found[0].startsWith('\n'))) return false
  if ((found[1] ?? '').trim().split(/\s+/).length > 3) return false
  const within = { start: from + found.index, end: start }
  return !naming.some((spans) => firstIn(spans, within) !== undefined)
}

/** The run of signs without a space at a place; none where that is a link, or its text. */
export function runAt({ text, links }: NamedText, at: number): Span | undefined {
  let start = at
  while (start < at + 3 && marks.includes(text.charAt(start) || ' ')) start += 1
  const run = runPattern.exec(text.slice(start, start + valueLengthMax))?.[0]
  if (run === undefined || /^\[[^\]\n]{0,200}\]\(/.test(text.slice(at, at + 204))) return undefined
  const closed = start === at ? run : run.replace(/["'»”」』】)*_`]{1,3}[.,;!?]?$/, '')
  const span = { start, end: start + withoutEnd(closed).length }
  return isTouched(links, span) || span.end === start ? undefined : span
}

/** The mark that ends a sentence belongs to it, unless the run has other signs and may end in one. */
function withoutEnd(run: string): string {
  const bare = run.replace(
    /(?:\.(?:txt|pdf|html?|csv|docx?|xlsx?|png|jpe?g|zip))?[.,;:!?)]{0,3}$/,
    '',
  )
  return /^[\p{L}\p{N}_-]*$/u.test(bare) ? bare : run
}

/** What a pattern finds: its group, or all of it. */
export function runsOf({ text }: NamedText, pattern: RegExp): Span[] {
  return [...text.matchAll(pattern)].map(({ 0: whole, 1: group = whole, index }) => {
    const start = index + whole.indexOf(group)
    return { start, end: start + group.length }
  })
}

/** A sentence goes on with when the secret ends. */
const andEnds =
  /^ (?:and|und|et|y|e|en|i|и|ve) (?:it )?(?:will |is |ist |est |es )?(?:\d|expir|valid|good|ends|works|can be|gultig|lauft|gilt|vence|caduca|scade|verloopt|geldig|wygas|действ|gecer)/u

/** Whether a part of a sentence ends with a run, or goes on with what it is for. */
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

/** Whether a line begins something, and is no rest of a sentence that was broken for its length. */
export function isApart(text: string, { start }: Span): boolean {
  let at = start
  while (at > 0 && at > start - 20 && /[ \t>*_"'`-]/.test(text.charAt(at - 1))) at -= 1
  return (
    at === 0 ||
    /(?:[.!?:。！？：]\s{0,3}|[-=_*]{3}|\n[ \t]{0,8})\n[ \t]{0,8}$/.test(
      text.slice(Math.max(0, at - 24), at),
    )
  )
}

/** How the lines come: announced by a colon, below a line with a name or of one, or as words of a phrase. */
export type Way = 'announced' | 'unannounced' | 'heading' | 'phrase'

/** Lines of a list of codes. */
const linesMax = 40
const lineLengthMax = 1_024
const announcingMax = 2_000

/** What of a line follows a place; nothing where that is only marks and space. */
export function restOfLine(text: string, at: number): Span | undefined {
  const line = text.slice(at, at + lineLengthMax)
  const length = line.indexOf('\n')
  const whole = length === -1 ? line : line.slice(0, length)
  const start = whole.search(/[^\s*_>`|-]/)
  return start === -1 ? undefined : { start: at + start, end: at + whole.length }
}

/** Lines of one secret each, of which the first is the next that has anything in it. */
export function linesFrom(page: NamedText, from: number, way: Way): Span[] {
  const found: Span[] = []
  let [at, next] = [from, way]
  while (found.length < linesMax) {
    const gap = /^[^\S\n]{0,20}(?:\n[^\S\n]{0,20}){1,4}/.exec(page.text.slice(at, at + 120))?.[0]
    const line = gap === undefined ? undefined : restOfLine(page.text, at + gap.length)
    const value = line && valueOfLine(page, line, next)
    if (!line || !value) break
    found.push(value)
    at = line.end
    // Below a line of words come more of them.
    next = isPhrase(page, value, 2) ? 'announced' : 'unannounced'
  }
  return found
}

/** In a mail that speaks of codes, what stands alone below a line that ends in a colon. */
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
    // Of one code there is one; rows of codes and words go on.
    return lines.filter(
      (row, at) => (at === 0 && !isOther) || isPhrase(page, row, 3) || isRowOfCodes(page, row),
    )
  })
}

/** Whether the line above was broken for its length, so that its sentence goes on in this one. */
function isRest(text: string, { start }: Span): boolean {
  const above = text.slice(Math.max(0, start - 90), start).replace(/\n[^\n]{0,20}$/, '')
  const line = above.slice(above.lastIndexOf('\n') + 1)
  return line.length > 35 && line.length < 82 && /[^\s.!?:]$/.test(line)
}

function valueOfLine(page: NamedText, line: Span, way: Way): Span | undefined {
  const text = page.text.slice(line.start, line.end)
  if (way === 'phrase') return { start: line.start, end: line.start + text.trimEnd().length }
  const lead = /^["'«„“”(*_>`-]{0,4}(?:\d{1,2}[.)][ \t]{1,3})?/.exec(text)?.[0].length ?? 0
  const whole = { start: line.start + lead, end: line.start + text.trimEnd().length }
  // Cells of a table, one sign each.
  if (/^\S(?: \S){3,63}$/.test(page.text.slice(whole.start, whole.end))) return whole
  const row = { start: line.start, end: whole.end }
  if (isRowOfCodes(page, row)) return row
  if (way === 'announced' ? isPhrase(page, row, 3) : isPhraseApart(page, row)) return row
  const value = runAt(page, whole.start)
  if (!value || /[^\s"'»”)*_`|.,:;!?-]/.test(page.text.slice(value.end, whole.end)))
    return undefined
  const written = page.written(value)
  if (way === 'announced') return isSecret(written) ? value : undefined
  if (isRest(page.text, line)) return undefined
  const isWord = value.end < whole.end || (way !== 'heading' && !isApart(page.text, value))
  return (isWord ? looksDrawn(written) : isDrawn(written)) ? value : undefined
}

/** Whether a phrase stands by itself, before an empty line or the end. */
function isPhraseApart(page: NamedText, row: Span): boolean {
  const next = /^[.]?[^\S\n]{0,8}(?:\n\s*\n|\n?\s{0,8}$|\n)/.exec(
    page.text.slice(row.end, row.end + 24),
  )
  return next !== null && isPhrase(page, row, 4) && isApart(page.text, row)
}

/** What follows a secret after a comma, as often as it looks drawn. */
export function nextInList(page: NamedText, { end }: Span): Span[] {
  const found: Span[] = []
  for (let at = end; found.length < linesMax; ) {
    const gap = /^(?:[,;|/]| and| or)[ \t]{1,3}(?:and |or )?/.exec(
      page.text.slice(at, at + 12),
    )?.[0]
    const next = gap === undefined ? undefined : runAt(page, at + gap.length)
    if (!next || !looksDrawn(page.written(next))) break
    found.push(next)
    at = next.end
  }
  return found
}

/** Characters after a name in which its secret begins. */
const reachOfDrawn = 1_000
/** A colon or a verb anywhere behind a name on its line. */
const sayingSomewhere =
  /(?:[:=]|(?<=\s)(?:is|are|ist|lautet|est|sont|es|son|sao|zijn|luidt|to|jest|brzmi|это|ar|er|on|je|este))[ \t]{1,4}(?=\S)/gu

/**
 * What a colon or a verb on the line of a name says to be a secret, by its signs; a password may be of digits.
 * What the secret is for stands between the two, and is called what a member of a site likes, however long,
 * with other numbers or with the end of a sentence.
 */
export function drawnOnLine(page: NamedText, name: Span, isPassword: boolean): Span[] {
  const line = page.text.slice(name.end, name.end + reachOfDrawn).split('\n', 1)[0] ?? ''
  return [...line.matchAll(sayingSomewhere)].flatMap(({ 0: said, index }) => {
    const value = runAt(page, name.end + index + said.length)
    const written = value ? page.written(value) : ''
    const isNumber = isPassword && /^\d{6,12}[.]?$/.test(written)
    return value && (isNumber || isDrawnForSure(written)) ? [value] : []
  })
}
