/**
 * Writes sentences about payments for people. They say in full what is asked or what happened: amount,
 * token, chain, payee. They contain no text of strangers except host names.
 */
import { assetOf } from '../chains/registry.ts'
import { formatAmount, formatUsd } from '../money/amount.ts'
import type { Reason, ReasonCode } from '../policy/decide.ts'
import type { LimitCode } from '../policy/facts.ts'
import type { MandateReason, MandateReasonCode, Uncovered } from '../policy/mandate.ts'
import type { Payment } from './payment.ts'

/** Returns the host of the merchant that a purchase is for; null for a transfer. */
export function merchantOf({ terms: { origin } }: Pick<Payment, 'terms'>): string | null {
  return typeof origin === 'string' ? new URL(origin).host : null
}

/** Returns the name of a payee: merchant, `label` or alias. An address is whole, as a part is easily imitated. */
export function payeeName(
  payment: Pick<Payment, 'terms' | 'payee' | 'payee_alias'>,
  label: string | null = null,
): string {
  return merchantOf(payment) ?? label ?? payment.payee_alias ?? payment.payee
}

/** Returns the agreed amount with its token, such as "5 USDC". */
export function agreedAmount(payment: Pick<Payment, 'chain' | 'token' | 'amount_atomic'>): string {
  const { token } = assetOf(payment)
  return `${formatAmount(payment.amount_atomic, token.decimals)} ${token.symbol}`
}

/** Returns one sentence that a person can confirm, such as "Pay 5 USDC on Base to bob (0x…)." */
export function summaryOf(payment: Payment): string {
  const { chain } = assetOf(payment)
  const amount = agreedAmount(payment)
  const payee = payment.payee_alias ? `${payment.payee_alias} (${payment.payee})` : payment.payee
  const most = payment.terms['scheme'] === 'upto' ? 'up to ' : ''
  const origin = payment.terms['origin']
  const purpose = typeof origin === 'string' ? ` for ${origin}` : purposeOf(payment)
  return `Pay ${most}${amount} on ${chain.title} to ${payee}${purpose}.`
}

/** Returns what the payee does with the money, after a blank, where the payment has an order for it. */
export function purposeOf({ terms: { purpose } }: Pick<Payment, 'terms'>): string {
  return typeof purpose === 'string' ? ` ${purpose}` : ''
}

/** Returns the mandate that carries a payment, in its wire form. */
export function coveredBy(mandate: string | null | undefined) {
  return mandate ? { covered_by: { mandate_id: mandate } } : {}
}

/** Returns a state in the interface's words; one that is reserved or signed is submitted. */
export function stateSentence(state: Payment['state']) {
  switch (state) {
    case 'prepared':
      return 'awaiting_confirmation' as const
    case 'authorized':
    case 'signed':
      return 'submitted' as const
    case 'awaiting_confirmation':
    case 'unknown':
    case 'settled':
    case 'released':
    case 'expired':
    case 'declined':
      return state
  }
}

const sentences: Record<ReasonCode | MandateReasonCode, string> = {
  new_recipient: 'The owner does not trust this recipient yet.',
  new_device: 'The owner does not trust this device yet.',
  other_key: 'The owner approved it for another key or app.',
  possible_duplicate:
    'The same payment was made within the last ten minutes. Confirm it to pay again.',
  other_resource: 'The challenge names a resource on another host than the one that is paid.',
  changed_payee: 'This resource was paid before, at another address.',
  changed_asset: 'This resource was paid before, in another token or on another chain.',
  unusual_price: 'The price is far from what this resource cost before.',
  similar_recipient: 'The address looks like one that the owner trusts, but it is a different one.',
  automatic_limit: 'The amount is over what is left for payments without confirmation.',
  asserted_limit: 'The amount is over what the agent may pay on its word in 24 hours.',
  asserted_new_recipient_limit:
    'The amount is over what agents may pay to a new recipient in 24 hours.',
  daily_spending_cap: 'The amount is over what is left of the daily spending cap.',
  monthly_spending_cap: 'The amount is over what is left of the 30-day spending cap.',
  credential_payment_cap: 'The amount is over what this key or app may pay at once.',
  credential_daily_cap: 'The amount is over what is left of what this key or app may pay in a day.',
  mandate_pending_approval: 'The owner has not approved the mandate yet.',
  mandate_suspended: 'The owner has suspended the mandate.',
  mandate_declined: 'The owner declined the mandate.',
  mandate_revoked: 'The mandate was revoked.',
  mandate_expired: 'The mandate has expired.',
  mandate_payment_limit: 'The amount is over what the mandate allows for one payment.',
  mandate_day_limit: 'The amount is over what is left of the mandate for 24 hours.',
  mandate_total_limit: 'The amount is over what is left of the mandate in all.',
  mandate_count_limit: 'The mandate has made as many payments as it may.',
  other_merchant: 'The mandate is for another merchant.',
  payee_not_pinned: 'The mandate names no addresses, so it covers no transfers.',
  other_payee: 'The mandate names other addresses than this one.',
  other_chain: 'The mandate names other chains than this one.',
  other_token: 'The mandate names other tokens than this one.',
  challenge_not_heard:
    'The merchant has not told the service itself what it wants: prepare the payment without a challenge.',
}

/** Returns the limits as sentences. */
export function refusalWords(codes: readonly LimitCode[]): string {
  return codes.map((code) => sentences[code]).join(' ')
}

/** Returns a reason in its wire form. */
export function reasonBody(reason: Reason | MandateReason) {
  const { code, headroomUsdMicros, resetsAt } = reason
  const left = headroomUsdMicros === undefined ? undefined : formatUsd(headroomUsdMicros)
  return {
    code,
    message: left === undefined ? sentences[code] : `${sentences[code]} ${left} USD is left.`,
    ...(left === undefined ? {} : { headroom_usd: left }),
    ...(resetsAt === undefined ? {} : { resets_at: resetsAt }),
  }
}

/** Returns the failed rules of one mandate in their wire form. */
export function uncoveredBody({ mandateId, reasons }: Uncovered) {
  return reasons.map((reason) => ({ ...reasonBody(reason), mandate_id: mandateId }))
}
