/** Caps of a key or an app, as its owner sees and sets them. */
import type * as z from 'zod'
import { formatUsd, parseAmount, usdDecimals } from '../../../shared/money/amount.ts'
import type { capsRow } from '../../../shared/payments/payment-with-facts.ts'

/** Caps with what is used of them. */
export type HeldCaps = z.output<typeof capsRow>
/** Caps as they are set, in micro-dollars; null means that only the limits of the account apply. */
export type Caps = { each: bigint | null; day: bigint | null }

/** Returns the caps without what is used of them. */
export function capsOf({ payment, daily }: HeldCaps): Caps {
  return { each: payment, day: daily && daily.limit }
}

/** True if one of the scopes allows payments. */
export const canPay = (scopes: readonly string[]) =>
  scopes.some((scope) => scope === 'pay' || scope === 'full')

/** Upper bound of a cap in micro-dollars, which SQL checks too. */
const usdMicrosMax = 1_000_000_000_000n
/** Message of a form whose cap is not an amount. */
export const capProblem = 'A cap is an amount from 0 to 1000000, such as 250 or 12.50, in USD.'

/** Reads both caps from a form; undefined if one is missing or not an amount. */
export function capsIn(form: URLSearchParams): { each: bigint; day: bigint } | undefined {
  const caps = optionalCapsIn(form)
  if (!caps || caps.each === null || caps.day === null) return undefined
  return { each: caps.each, day: caps.day }
}

/** Reads the caps from a form in which an empty field means no cap. */
export function optionalCapsIn(form: URLSearchParams): Caps | undefined {
  const [each, day] = ['each', 'day'].map((name) => {
    const text = (form.get(name) ?? '').trim()
    if (text === '') return null
    const micros = parseAmount(text, usdDecimals)
    return micros !== undefined && micros <= usdMicrosMax ? micros : undefined
  })
  return each === undefined || day === undefined ? undefined : { each, day }
}

/** Returns caps as arguments of SQL functions. */
export function capsQuestion({ each, day }: Caps) {
  return {
    max_per_payment_usd_micros: each?.toString() ?? null,
    max_per_day_usd_micros: day?.toString() ?? null,
  }
}

/** Returns caps as the lines of a mail. */
export function capsTold({ each, day }: Caps): Record<string, string> {
  const told = (micros: bigint | null) => (micros === null ? 'No cap' : `${formatUsd(micros)} USD`)
  return { 'Per payment': told(each), 'In 24 hours': told(day) }
}
