/** Tells the codes that advertisements give to everybody from secrets: by form, and by what they promise. */
import type { Span } from './spans.ts'
import { lineEnd, lineStart } from './text-lines.ts'
import { promising } from './words.ts'

/** A word in capitals, with a number of up to four digits or without one. */
const form = /^\p{Lu}{3,14}[-_]?\d{0,4}$/u

/** Returns true if a value has the form of a promotion's code and its line, or one beside it, promises something. */
export function isPromotion(text: string, { start, end }: Span, written: string): boolean {
  if (!form.test(written)) return false
  const from = lineStart(text, Math.max(0, lineStart(text, start) - 1))
  return promising.test(text.slice(from, lineEnd(text, end)))
}
