/** Spans of a text, found and compared by where they begin and end. */

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
