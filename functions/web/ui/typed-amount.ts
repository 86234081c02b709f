/** Amounts as people type them. */
import { parseAmount, usdDecimals } from '../../../shared/money/amount.ts'

/** Upper bound of a limit or cap, a million dollars in micro-dollars, which SQL checks too. */
const usdMicrosMax = 1_000_000_000_000n

/** Reads a limit or cap in micro-dollars; undefined if it is no amount, or over a million dollars. */
export function typedUsdMicros(text: string): bigint | undefined {
  const micros = parseAmount(typedAmount(text), usdDecimals)
  return micros === undefined || micros > usdMicrosMax ? undefined : micros
}

/** Reads such an amount from a field of a form: null for an empty field, undefined if it is wrong. */
export function typedUsdMicrosIn(form: URLSearchParams, name: string): bigint | null | undefined {
  const text = (form.get(name) ?? '').trim()
  return text === '' ? null : typedUsdMicros(text)
}

/**
 * Rewrites an amount as the parsers of shared/money take it: "$1,000.50" becomes "1000.50", ".5" becomes "0.5". Commas
 * count only between groups of three digits. Anything else is returned unchanged, for the parser to refuse.
 */
export function typedAmount(text: string): string {
  const bare = text.trim().replace(/^\$\s*/, '')
  const grouped = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare) ? bare.replaceAll(',', '') : bare
  const whole = grouped.replace(/^0+(?=\d)/, '')
  return /^\.\d+$/.test(whole) ? `0${whole}` : whole
}
