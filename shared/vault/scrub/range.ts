/** Ranges of bytes. */

/** Range from the first byte to the one behind the last. */
export type Range = { start: number; end: number }

/** Sorts ranges and merges those that touch each other. */
export function joined(ranges: readonly Range[]): Range[] {
  const joint: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = joint.at(-1)
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end)
    else joint.push({ ...range })
  }
  return joint
}
