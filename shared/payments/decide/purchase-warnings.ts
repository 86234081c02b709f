/** Finds what is odd about a purchase: how its challenge differs from its purpose and earlier payments. */
import { historyReasons } from '../../policy/memory.ts'
import { namesOtherHost } from '../../x402/named-resource.ts'
import type { Payment } from '../payment.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'
import { reasonBody } from '../words.ts'

/** Returns the oddities in sentences for the person who confirms; none for a transfer. */
export function purchaseWarnings({ payment_row: payment, facts }: PaymentWithFacts) {
  const { payee: payTo, chain, token, amount_usd_micros: amountUsdMicros } = payment
  const remembered = { payTo, chain, token, amountUsdMicros }
  const codes = [
    ...(isForOther(payment) ? (['other_resource'] as const) : []),
    ...historyReasons(facts.history, remembered),
  ]
  return codes.map((code) => reasonBody({ code }))
}

/** True if the challenge names a resource on another host than the one that is paid. */
export function isForOther({ terms }: Payment): boolean {
  return typeof terms['origin'] === 'string' && namesOtherHost(terms, terms['origin'])
}
