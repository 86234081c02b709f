/**
 * Finds what is odd about a payment: how a purchase differs from its purpose and earlier ones, and how a new
 * recipient resembles one that the account paid before.
 */
import { historyReasons } from '../../policy/memory.ts'
import { namesOtherHost } from '../../x402/challenge.ts'
import type { Payment } from '../payment.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'
import { reasonBody } from '../words.ts'

/** Returns the warnings in sentences for the person who confirms; none for a transfer. */
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

/** Facts for the warnings; `isContract` is null if no chain could say. */
export type RecipientStanding = {
  /** Known recipient whose address looks like this one. */
  similarTo: string | null
  isKnown: boolean
  isContract: boolean | null
  isChecksummed: boolean
  /** Chains and tokens on which the issuer bars the recipient. */
  barredBy: { chain: string; symbol: string }[]
}

/** Returns all warnings that apply, the gravest first. */
export function warningsOf(standing: RecipientStanding): { code: string; message: string }[] {
  const { similarTo, isKnown, isContract, isChecksummed, barredBy } = standing
  const warnings: { code: string; message: string }[] = barredBy.map(({ chain, symbol }) => ({
    code: 'barred',
    message: `The issuer of ${symbol} bars this recipient on ${chain}: it can be paid none there.`,
  }))
  if (similarTo !== null) {
    const message = `The address looks like ${similarTo}, which the owner knows, but differs.`
    warnings.push({ code: 'similar_recipient', message })
  }
  if (!isKnown) {
    warnings.push({
      code: 'new_recipient',
      message: 'The owner has not made this recipient known.',
    })
  }
  if (isContract === true) {
    const message = 'The address is a contract: make sure that it can give tokens out again.'
    warnings.push({ code: 'contract', message })
  }
  if (!isChecksummed) {
    const message = 'The address has no checksum (EIP-55), so a typing error would go unnoticed.'
    warnings.push({ code: 'no_checksum', message })
  }
  return warnings
}
