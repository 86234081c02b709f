/** Secrets that stand before their names: those that a sentence begins with, and those right before one. */

import { isDrawn, looksDrawn } from './drawn-text.ts'
import type { Span } from './spans.ts'
import { isTouched, spanAt } from './spans.ts'
import type { NamedText } from './value-lines.ts'

/** Characters before a name in which its secret stands. */
const before = 130

/** Whether a text ends in a script whose words need no space behind them. */
export const isCjk =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u30fc]$/u

/** A run that a sentence says to be what it names later; Turkish has no verb and ends the name instead. */
const saidBefore =
  /(?:^|[\s"'«“„(*_>,])([^\s"'«“„(*_>]\S{2,63}?)["'»”)*_]{0,3}(?:,? (?:is|ist|est|es|e|jest|to|это|[-–—]) |,? ?[是は为為]|, )[^.!?\n]{0,80}$/u

/** What joins a secret to the name behind it. */
const joiner =
  /(?:^|[\s"'】」])([!-~]{4,64}?)["'」]{0,2}( ?\(\p{Script=Han}{0,4}| (?:as|als|comme|como|come|jako|как)(?: [^\s.!?]{1,12})? \p{L}{0,16}| )$/u

/** The secret that a sentence begins with and names after it, or that stands right before its name. */
export function ahead(page: NamedText, name: Span): Span[] {
  const from = Math.max(0, name.start - before)
  const text = page.text.slice(from, name.start)
  const joined = joiner.exec(text)
  const next =
    joined?.[1] === undefined
      ? []
      : [spanAt(from + joined.index + joined[0].indexOf(joined[1]), joined[1])]
  const begin = Math.max(
    0,
    ...[...text.matchAll(/\n|[.!?] |(?:dear|hi|hello) [^,\n]{1,20}, /g)].map(
      ({ 0: mark, index }) => index + mark.length,
    ),
  )
  const said = begin === 0 && from > 0 ? null : saidBefore.exec(text.slice(begin))
  const value = said?.[1] ?? ''
  const first = spanAt(from + begin + (said?.index ?? 0) + (said?.[0].indexOf(value) ?? 0), value)
  const isFirst =
    isSaid(page, name, said?.[0] ?? '') &&
    /^(?:\p{L}{2,9}(?: \p{L}{2,20})?,|\W{0,2})$/u.test(
      page.text.slice(from + begin, first.start).trim(),
    )
  return [
    ...next
      .filter((span) => !isTouched(page.names, span))
      .filter((span) =>
        isJoined(page.text, name, joined?.[2] ?? '')
          ? isDrawn(page.written(span))
          : looksDrawn(page.written(span)),
      ),
    ...(isFirst && isDrawn(page.written(first)) ? [first] : []),
    ...(said !== null && isSaid(page, name, said[0]) && looksDrawn(page.written(first))
      ? [first]
      : []),
  ]
}

/** Whether a verb, or the end of a Turkish name, says that the run before it is the secret. */
function isSaid({ text }: NamedText, name: Span, words: string): boolean {
  if (/ to /.test(words) && !/^(?:kod|hasl)/.test(text.slice(name.start, name.end))) return false
  const isVerbless = !/ (?:is|ist|est|es|e|jest|to|это|[-–—]) |[是は为為]/u.test(words)
  return !isVerbless || /^\p{L}{3,12}d[iu]r/u.test(text.slice(name.start, name.end + 12))
}

/** Whether what joins the two lets the first be of small letters. */
function isJoined(text: string, name: Span, joint: string): boolean {
  if (joint.includes('(')) return isCjk.test(text.slice(name.start, name.end))
  return (
    joint !== ' ' || /^kod(?:unu|u\p{L}{2,5})(?!\p{L})/u.test(text.slice(name.start, name.end + 8))
  )
}
