/** Labels before values, as in a form that is filled in: what one names is no secret unless it says so. */
import type { Span } from './spans.ts'
import { firstIn } from './spans.ts'

const labelMax = 60
const label = /(?:^|\n)[^\S\n]{0,8}([^:\n.!?,]{1,40}):\s{0,4}$/u

/** Whether a short label and a colon stand right before a place, and none of the sorted spans in the label. */
export function isOtherLabel(
  text: string,
  start: number,
  naming: readonly (readonly Span[])[],
): boolean {
  const from = Math.max(0, start - labelMax)
  const found = label.exec(text.slice(from, start))
  if (!found || (found.index === 0 && from > 0 && !found[0].startsWith('\n'))) return false
  if ((found[1] ?? '').trim().split(/\s+/).length > 3) return false
  const within = { start: from + found.index, end: start }
  return !naming.some((spans) => firstIn(spans, within) !== undefined)
}
