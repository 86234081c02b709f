/**
 * The only parser and formatter of amounts. An amount is a decimal string on the wire and a bigint of
 * atomic units in code. No amount is ever a floating-point number.
 */
/** Form of an amount on the wire: a decimal string in token units (shared/README.md). */
export const amountPattern = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/

/** Decimals of a US dollar in micro-USD. */
export const usdDecimals = 6

/** Converts token units to atomic units; undefined if it is not an amount or is finer than the token. */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  if (!amountPattern.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  if (fraction.length > decimals) return undefined
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Does the same for an amount that may begin with a dollar sign. */
export function parseDollars(text: string, decimals: number): bigint | undefined {
  return parseAmount(text.replace(/^\$/, ''), decimals)
}

/** Converts atomic units to token units, without trailing zeros: 1500000n at 6 decimals is "1.5". */
export function formatAmount(atomic: bigint, decimals: number): string {
  const digits = atomic.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = /^.*[1-9]/.exec(digits.slice(digits.length - decimals))?.[0] ?? ''
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Formats micro-USD as a decimal string of dollars. */
export function formatUsd(usdMicros: bigint): string {
  return formatAmount(usdMicros, usdDecimals)
}
