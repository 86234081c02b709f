/** Splits a stranger's long text into pages. */
import { type Untrusted, untrusted, visibleText } from '../../mail/untrusted.ts'

const pageLength = 20_000

/**
 * Returns the page at an offset in UTF-16 units, and the offset of the next page; null at the end.
 * `notKept` is the number of further units that were cut when the text came in.
 */
export function pageOf(
  { from, text, notKept = 0 }: { from: string; text: string; notKept?: number },
  offset: number,
): { page: Untrusted; next: number | null } {
  const whole = visibleText(text)
  const length = whole.length + notKept
  const page = untrusted({ from, text: whole.slice(offset) }, pageLength)
  const end = offset + page.text.length
  return {
    page: { ...page, length, truncated: end < length },
    next: end < whole.length ? end : null,
  }
}
