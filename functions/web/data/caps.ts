/** What a key or an app may move at most, as its owner sees and sets it. */
import type * as z from 'zod'
import { limitsRaised } from '../../../shared/mail/money-messages.ts'
import { formatUsd, parseAmount, usdDecimals } from '../../../shared/money/amount.ts'
import type { capsRow } from '../../../shared/payments/entered.ts'
import { owner } from '../frame.ts'
import { noticeOf } from '../own-session.ts'
import type { Visit } from '../visit.ts'

/** As they stand, with what is used of them. */
export type HeldCaps = z.output<typeof capsRow>
/** As they are set, in micro-dollars; null is no cap but those of the account. */
export type Caps = { each: bigint | null; day: bigint | null }

export function capsOf({ payment, daily }: HeldCaps): Caps {
  return { each: payment, day: daily && daily.limit }
}

export const canPay = (scopes: readonly string[]) =>
  scopes.some((scope) => scope === 'pay' || scope === 'full')

/** The bound that SQL holds too. */
const usdMicrosMax = 1_000_000_000_000n
export const capProblem = 'A cap is an amount from 0 to 1000000, such as 250 or 12.50, in USD.'

/** The caps that a form asks for, both of them; undefined where one is no amount. */
export function capsIn(form: URLSearchParams): { each: bigint; day: bigint } | undefined {
  const caps = optionalCapsIn(form)
  if (!caps || caps.each === null || caps.day === null) return undefined
  return { each: caps.each, day: caps.day }
}

/** The same where an empty field is no cap. */
export function optionalCapsIn(form: URLSearchParams): Caps | undefined {
  const [each, day] = ['each', 'day'].map((name) => {
    const text = (form.get(name) ?? '').trim()
    if (text === '') return null
    const micros = parseAmount(text, usdDecimals)
    return micros !== undefined && micros <= usdMicrosMax ? micros : undefined
  })
  return each === undefined || day === undefined ? undefined : { each, day }
}

/** Caps as SQL takes them. */
export function capsQuestion({ each, day }: Caps) {
  return {
    max_per_payment_usd_micros: each?.toString() ?? null,
    max_per_day_usd_micros: day?.toString() ?? null,
  }
}

/** Sets the caps of a key or an app; `named` says in the mail which one it is. */
export async function setCaps(
  c: Visit,
  holder: string,
  named: Readonly<Record<string, string>>,
  caps: Caps,
): Promise<void> {
  const { db } = await owner(c)
  const told = (micros: bigint | null) => (micros === null ? 'No cap' : `${formatUsd(micros)} USD`)
  const changes = { ...named, 'Per payment': told(caps.each), 'In 24 hours': told(caps.day) }
  const mail = await noticeOf(c, (webUrl, deed) => limitsRaised(webUrl, { ...deed, changes }))
  await db.run('owner_set_caps', { holder, ...capsQuestion(caps), mail })
}
