/**
 * Secrets of several words, and several codes beside each other in a line, as in the columns of a table.
 * Words of a sentence are told from those of a phrase by the small words that every sentence has.
 */
import { looksDrawn, tellsOfSecrets } from './drawn-text.ts'
import type { Span } from './spans.ts'

/** A folded text, and a stretch of it as it is written. */
type Page = { text: string; written: (span: Span) => string }

/** A phrase has no more words; BIP 39 knows 24. */
const wordsMax = 24

/** Words of which a sentence has one, beside those that follow the name of a secret. */
const sentenceWords = new Set(
  `are was were been will would can could has have had does did may must should they them his her our us
    my then than when because after more most any all some other such very each every need want make
    find get help send thanks thank regards please message email mail link team support privacy terms
    sind war wird werden kann haben sie ihr wir uns mein aber wenn dann mehr alle bitte dank grusse
    sont sera peut nous elle mais plus tout merci que son sera puede pero mas todo gracias che sono ma
    grazie mas mais obrigado obrigada zijn wordt kan wij maar als dan meer dat deze dank`.split(
    /\s+/,
  ),
)

/** Whether a line is of nothing but plain words, with or without their numbers. */
export function isPhrase({ written }: Page, line: Span, wordsMin: number): boolean {
  const parts = partsOf(written(line)).filter((part) => !/^\d{1,2}[.):]?$/.test(part))
  return parts.length >= wordsMin && parts.length <= wordsMax && parts.every(isPlain)
}

/** Whether a line is of two codes or more, with or without their numbers. */
export function isRowOfCodes({ written }: Page, line: Span): boolean {
  const parts = partsOf(written(line)).filter((part) => !/^\d{1,2}[.):]$/.test(part))
  return parts.length > 1 && parts.every((part) => part.length > 3 && looksDrawn(part))
}

/** A secret with the words behind it up to the end of the sentence, where all are those of a phrase. */
export function withItsPhrase(page: Page, value: Span): Span {
  const rest = page.text.slice(value.end, value.end + wordsMax * 13)
  const lineStart = page.text.lastIndexOf('\n', value.start) + 1
  const line = /^(?: [a-z]{2,12}){1,23}(?=[.!]?(?:\s|$))/.exec(rest)?.[0] ?? ''
  const isBroken = value.end + line.length - lineStart > 35 && rest.startsWith('\n', line.length)
  const next = isBroken
    ? (/^\n[a-z]{2,12}(?: [a-z]{2,12}){0,9}(?=[.!]?(?:\n|$))/.exec(rest.slice(line.length))?.[0] ??
      '')
    : ''
  const whole = { start: value.start, end: value.end + line.length + next.length }
  const isEnd = /^[.!]?\s*(?:\n|$)/.test(page.text.slice(whole.end, whole.end + 8))
  return isEnd && isPhrase(page, whole, 3) ? whole : value
}

function isPlain(word: string): boolean {
  return /^[a-z]{2,12}$/.test(word) && !tellsOfSecrets(word) && !sentenceWords.has(word)
}

function partsOf(line: string): string[] {
  return line.split(/[\s|,]+/).filter((part) => part !== '')
}
