/** Where the lines and sentences of a text begin and end. */
import type { Span } from './spans.ts'

/** Of a longer line the part next to a place counts. */
const lineMax = 400

/** Where the line of a place begins. */
export function lineStart(text: string, at: number, max = lineMax): number {
  const from = Math.max(0, at - max)
  return from + text.slice(from, at).lastIndexOf('\n') + 1
}

/** Where it ends. */
export function lineEnd(text: string, at: number): number {
  const length = text.slice(at, at + lineMax).indexOf('\n')
  return length === -1 ? Math.min(text.length, at + lineMax) : at + length
}

/** Whether a line was broken for its length alone, so the sentence goes on in the next one. */
export function isWrapped(line: string): boolean {
  return line.length > 40 && line.length < 82 && !/:\/\/|[.!?:]\s*$/.test(line)
}

/** A stretch of a text as far as its first sentence goes. */
export function firstSentence(text: string, { start, end }: Span): Span {
  const stop = /[.!?](?=\s|$)|[。！？]/.exec(text.slice(start, end))
  return { start, end: stop ? start + stop.index : end }
}
