/** Pages of a long text of a stranger. */
import { type Untrusted, untrusted, visibleText } from '../mail/untrusted.ts'

const pageLength = 20_000

/**
 * The page from an offset on, in UTF-16 units, and where the next one begins; null at the end.
 * `notKept` units more were cut away when the text came in.
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
