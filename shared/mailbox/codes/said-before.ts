/** Finds secrets that precede their names: at the beginning of a sentence, or right before a name. */

import { isRandomAlone, isRandomInText } from './drawn-text.ts'
import type { Span } from './spans.ts'
import { isTouched, spanAt } from './spans.ts'
import type { NamedText } from './value-lines.ts'

/** Number of characters before a name in which its secret can be. */
const before = 130

/** Matches text that ends in a script whose words need no space after them. */
export const isCjk =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u30fc]$/u

/** A run at the beginning that the sentence then names. Turkish has no verb but a suffix of the name. */
const saidBefore =
  /(?:^|[\s"'«“„(*_>,])([^\s"'«“„(*_>]\S{2,63}?)["'»”)*_]{0,3}(?:,? (?:is|ist|est|es|e|jest|to|это|[-–—]) |,? ?[是は为為]|, )[^.!?\n]{0,80}$/u

/** The text that joins a secret to the name after it. */
const joiner =
  /(?:^|[\s"'】」])([!-~]{4,64}?)["'」]{0,2}( ?\(\p{Script=Han}{0,4}| (?:as|als|comme|como|come|jako|как)(?: [^\s.!?]{1,12})? \p{L}{0,16}| )$/u

/** Returns the secret that begins a sentence and is named later in it, or is right before its name. */
export function valuesBefore(page: NamedText, name: Span): Span[] {
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
    isNamedAfter(page, name, said?.[0] ?? '') &&
    /^(?:\p{L}{2,9}(?: \p{L}{2,20})?,|\W{0,2})$/u.test(
      page.text.slice(from + begin, first.start).trim(),
    )
  return [
    ...next
      .filter((span) => !isTouched(page.names, span))
      .filter((span) =>
        isJoined(page.text, name, joined?.[2] ?? '')
          ? isRandomAlone(page.written(span))
          : isRandomInText(page.written(span)),
      ),
    ...(isFirst && isRandomAlone(page.written(first)) ? [first] : []),
    ...(said !== null && isNamedAfter(page, name, said[0]) && isRandomInText(page.written(first))
      ? [first]
      : []),
  ]
}

/** Returns true if a verb, or the suffix of a Turkish name, says that the run before it is the secret. */
function isNamedAfter({ text }: NamedText, name: Span, words: string): boolean {
  if (/ to /.test(words) && !/^(?:kod|hasl)/.test(text.slice(name.start, name.end))) return false
  const isVerbless = !/ (?:is|ist|est|es|e|jest|to|это|[-–—]) |[是は为為]/u.test(words)
  return !isVerbless || /^\p{L}{3,12}d[iu]r/u.test(text.slice(name.start, name.end + 12))
}

/** Returns true if the words between the two allow a secret in lower case. */
function isJoined(text: string, name: Span, joint: string): boolean {
  if (joint.includes('(')) return isCjk.test(text.slice(name.start, name.end))
  return (
    joint !== ' ' || /^kod(?:unu|u\p{L}{2,5})(?!\p{L})/u.test(text.slice(name.start, name.end + 8))
  )
}
