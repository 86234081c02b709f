/**
 * Finds codes by form alone, in a mail of a site at which a login is in use: no words are needed there, and
 * almost nothing else comes.
 */
import type { Candidate } from './code-candidates.ts'
import { isRandomInText, isYear } from './drawn-text.ts'
import { type NamedText, runAt, runsOf } from './named-text.ts'
import type { Span } from './spans.ts'
import { isTouched } from './spans.ts'
import { isAlone } from './text-lines.ts'

const run =
  /(?<!\S)[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{4,64}/gu

/** Returns the candidates and the runs that look random. Capitals alone and years must have a line of their own. */
export function runsByForm(
  page: Pick<NamedText, 'text' | 'written' | 'links'>,
  candidates: readonly Candidate[],
): Span[] {
  const formed = candidates.filter((one) => {
    const isDoubtful = one.form === 'letters' || isYear(page.written(one))
    return !isDoubtful || /-/.test(page.written(one)) || isAlone(page.text, one)
  })
  const random = runsOf(page, run)
    .flatMap(({ start }) => runAt(page, start) ?? [])
    .filter((span) => isRandomInText(page.written(span)) && isMixed(page.written(span)))
  return [...formed, ...random].filter((span) => !isTouched(page.links, span))
}

/** Returns true for more than digits, which are candidates, and more than capitals, which are often words. */
const isMixed = (written: string) =>
  /\p{L}/u.test(written) && /[^\p{Lu}]/u.test(written.replace(/\p{P}{1,4}$/u, ''))
