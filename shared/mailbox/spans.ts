/** Stretches of a text, found and compared by where they begin and end. */

/** A stretch of folded text. */
export type Span = { start: number; end: number }

/** The stretch of a text that begins at a place. */
export function spanAt(start: number, { length }: string): Span {
  return { start, end: start + length }
}

/** Each place of a pattern. */
export function spansOf(pattern: RegExp, text: string): Span[] {
  return [...text.matchAll(pattern)].map(({ 0: whole, index }) => ({
    start: index,
    end: index + whole.length,
  }))
}

/** The last of sorted spans that lies within. */
export function lastIn<One extends Span>(spans: readonly One[], within: Span): One | undefined {
  const at = firstFrom(spans, within.end) - 1
  const last = (spans[at]?.end ?? 0) > within.end ? spans[at - 1] : spans[at]
  return last && last.start >= within.start ? last : undefined
}

/** The first of sorted spans that lies within. */
export function firstIn<One extends Span>(spans: readonly One[], within: Span): One | undefined {
  const found = spans[firstFrom(spans, within.start)]
  return found && found.end <= within.end ? found : undefined
}

/** Whether one of the sorted spans shares a character with another. */
export function isTouched(spans: readonly Span[], by: Span): boolean {
  const at = firstFrom(spans, by.end)
  return (spans[at - 1]?.end ?? 0) > by.start
}

/** Whether one of the sorted spans holds all of another and more. */
export function isWithin(spans: readonly Span[], inner: Span): boolean {
  const one = spans[firstFrom(spans, inner.end) - 1]
  return (
    one !== undefined &&
    one.start <= inner.start &&
    one.end >= inner.end &&
    one.end - one.start > inner.end - inner.start
  )
}

/** Index of the first span that begins there or later. */
function firstFrom(spans: readonly Span[], start: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.start ?? 0) < start) low = middle + 1
    else high = middle
  }
  return low
}
