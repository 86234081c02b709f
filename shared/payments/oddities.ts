/** What is odd about a purchase: how its challenge differs from what it is for and from what was paid. */
import { memoryReasons } from '../policy/memory.ts'
import { namesOtherHost } from '../x402/named-resource.ts'
import type { Entered } from './entered.ts'
import type { Payment } from './payment.ts'
import { reasonBody } from './words.ts'

/** In words for whoever is asked to confirm it; nothing for a transfer. */
export function odditiesOf({ payment_row: payment, facts }: Entered) {
  const { payee: payTo, chain, token, amount_usd_micros: amountUsdMicros } = payment
  const remembered = { payTo, chain, token, amountUsdMicros }
  const codes = [
    ...(isForOther(payment) ? (['other_resource'] as const) : []),
    ...memoryReasons(facts.history, remembered, false),
  ]
  return codes.map((code) => reasonBody({ code }))
}

/** Whether the challenge names a resource on another host than the one that is paid. */
export function isForOther({ terms }: Payment): boolean {
  return typeof terms['origin'] === 'string' && namesOtherHost(terms, terms['origin'])
}
