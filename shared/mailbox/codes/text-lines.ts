/** Finds where the lines and sentences of a text begin and end, and the lines around a candidate. */

/** Maximum length of a line. Of a longer one, the part next to the offset counts. */
const lineMax = 400

/** Returns where the line of an offset begins. */
export function lineStart(text: string, at: number, max = lineMax): number {
  const from = Math.max(0, at - max)
  return from + text.slice(from, at).lastIndexOf('\n') + 1
}

/** Returns where the line of an offset ends. */
export function lineEnd(text: string, at: number): number {
  const length = text.slice(at, at + lineMax).indexOf('\n')
  return length === -1 ? Math.min(text.length, at + lineMax) : at + length
}

/** Returns true if a line was broken because of its length, so that its sentence continues on the next. */
export function isWrapped(line: string): boolean {
  return line.length > 40 && line.length < 82 && !/:\/\/|[.!?:]\s*$/.test(line)
}

/** Returns a span up to the end of its first sentence. */
export function firstSentence(text: string, { start, end }: Span): Span {
  const stop = /[.!?](?=\s|$)|[。！？]/.exec(text.slice(start, end))
  return { start, end: stop ? start + stop.index : end }
}

const linesNear = 3
/** Maximum number of lines in a list of codes. */
const linesPassedMax = 40

/** Returns true if nothing but signs is beside a span on its line. */
export function isAlone(text: string, one: Span): boolean {
  const beside =
    text.slice(lineStart(text, one.start), one.start) + text.slice(one.end, lineEnd(text, one.end))
  return beside.length <= 12 && !/[\p{L}\p{N}]/u.test(beside)
}

/** Returns the lines next to a candidate, nearest first, without lines that hold only another candidate. */
export function linesAround(
  text: string,
  one: Span,
  rivals: readonly Span[],
  side: 'above' | 'below',
) {
  const lines: Span[] = []
  let line = { start: lineStart(text, one.start), end: lineEnd(text, one.end) }
  for (let passed = 0; lines.length < linesNear && passed < linesPassedMax; passed += 1) {
    if (side === 'above' ? line.start === 0 : line.end >= text.length) break
    line =
      side === 'above'
        ? { start: lineStart(text, line.start - 1), end: line.start - 1 }
        : { start: line.end + 1, end: lineEnd(text, line.end + 1) }
    const rival = firstIn(rivals, line)
    const isRival = rival !== undefined && isAlone(text, rival)
    if (!isRival && /[\p{L}\p{N}]/u.test(text.slice(line.start, line.end))) lines.push(line)
  }
  return lines
}

/** Extends a number by further groups of digits, also on the next line if its own was broken. */
export function withItsGroups(text: string, run: Span | undefined): Span | undefined {
  if (!run || !/^\d{1,5}$/.test(text.slice(run.start, run.end))) return run
  const isBroken = isWrapped(text.slice(lineStart(text, run.end), lineEnd(text, run.end)))
  const rest = text.slice(run.end, run.end + 32)
  const groups = /^(?: \d){3,11}(?!\d)|^(?: \d{2,5}){1,5}(?![\p{L}\p{N}.,]| \p{L})/u.exec(
    isBroken ? rest.replace('\n', ' ') : rest,
  )
  return groups ? { start: run.start, end: run.end + groups[0].length } : run
}

/** Characters after a name in which its secret begins, and before one in which its line begins. */
const behind = 260
const before = 130

/** Returns the text after a name, with a line joined to the next if it was broken because of its length. */
export function restAfter(text: string, name: Span): string {
  const rest = text.slice(name.end, name.end + behind)
  const end = rest.indexOf('\n')
  const from = Math.max(0, name.start - before)
  const start = from + text.slice(from, name.start).lastIndexOf('\n') + 1
  const length = name.end + end - start
  const isBroken =
    end !== -1 &&
    length > 35 &&
    length < 82 &&
    /[^\s.!?:。।][ \t]?\n\S/.test(text.slice(name.end + end - 2, name.end + end + 2))
  return isBroken ? `${rest.slice(0, end)} ${rest.slice(end + 1)}` : rest
}

/** A span of folded text. */
export type Span = { start: number; end: number }

/** Returns the span of a text that begins at an offset. */
export function spanAt(start: number, { length }: string): Span {
  return { start, end: start + length }
}

/** Returns the span of each match of a global pattern. */
export function spansOf(pattern: RegExp, text: string): Span[] {
  return matchesOf(pattern, text).map(({ 0: whole, index }) => spanAt(index, whole))
}

/**
 * Returns the matches of a global pattern. `matchAll` would make a copy of it for each search, which takes
 * longer than the search itself if the pattern has hundreds of words.
 */
export function matchesOf(pattern: RegExp, text: string): RegExpExecArray[] {
  const matches: RegExpExecArray[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    matches.push(match)
    const isEmpty = pattern.lastIndex === match.index
    if (isEmpty) pattern.lastIndex += (text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1
  }
  return matches
}

/** Returns the last of sorted spans that lies within another. */
export function lastIn<One extends Span>(spans: readonly One[], within: Span): One | undefined {
  const at = firstFrom(spans, within.end) - 1
  const last = (spans[at]?.end ?? 0) > within.end ? spans[at - 1] : spans[at]
  return last && last.start >= within.start ? last : undefined
}

/** Returns the first of sorted spans that lies within another. */
export function firstIn<One extends Span>(spans: readonly One[], within: Span): One | undefined {
  const found = spans[firstFrom(spans, within.start)]
  return found && found.end <= within.end ? found : undefined
}

/** Returns true if one of the sorted spans shares a character with another. */
export function isTouched(spans: readonly Span[], by: Span): boolean {
  const at = firstFrom(spans, by.end)
  return (spans[at - 1]?.end ?? 0) > by.start
}

/** Returns true if one of the sorted spans contains another and is longer. */
export function isWithin(spans: readonly Span[], inner: Span): boolean {
  const one = spans[firstFrom(spans, inner.end) - 1]
  return (
    one !== undefined &&
    one.start <= inner.start &&
    one.end >= inner.end &&
    one.end - one.start > inner.end - inner.start
  )
}

/** Returns the index of the first span that begins at an offset or later. */
function firstFrom(spans: readonly Span[], start: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.start ?? 0) < start) low = middle + 1
    else high = middle
  }
  return low
}
