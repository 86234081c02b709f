/**
 * A folded text with what is named in it, and its runs: characters without a space, which could be a secret.
 * Also tells labels, as forms have them, from sentences.
 */
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
export function labelBefore(text: string, start: number): Span | undefined {
  const from = Math.max(0, start - labelMax)
  const found = label.exec(text.slice(from, start))
  if (!found || (found.index === 0 && from > 0 && !found[0].startsWith('\n'))) return undefined
  const isShort = (found[1] ?? '').trim().split(/\s+/).length <= 3
  return isShort ? { start: from + found.index, end: start } : undefined
}
