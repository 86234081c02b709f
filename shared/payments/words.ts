/**
 * Sentences about payments, for people. They say what is asked or what happened, in full: amount,
 * token, chain, payee. Text of strangers is never part of them but for host names.
 */
import { assetOf } from '../chains/registry.ts'
import { formatAmount, formatUsd } from '../money/amount.ts'
import type { Reason, ReasonCode } from '../policy/decide.ts'
import type { Payment } from './payment.ts'

/** One sentence that a person can confirm, such as "Pay 5 USDC on Base to bob (0x…)." */
export function summaryOf(payment: Payment): string {
  const { chain, token } = assetOf(payment)
  const amount = `${formatAmount(payment.amount_atomic, token.decimals)} ${token.symbol}`
  const payee = payment.payee_alias ? `${payment.payee_alias} (${payment.payee})` : payment.payee
  const most = payment.terms['scheme'] === 'upto' ? 'up to ' : ''
  const origin = payment.terms['origin']
  const purpose = typeof origin === 'string' ? ` for ${origin}` : ''
  return `Pay ${most}${amount} on ${chain.title} to ${payee}${purpose}.`
}

/** A state in the words of the interface: what is not known to have settled is submitted. */
export function statusOf(state: Payment['state']) {
  switch (state) {
    case 'prepared':
      return 'awaiting_confirmation' as const
    case 'authorized':
    case 'signed':
      return 'submitted' as const
    case 'awaiting_confirmation':
    case 'unknown':
    case 'settled':
    case 'failed':
    case 'released':
    case 'expired':
    case 'declined':
      return state
  }
}

const sentences: Record<ReasonCode, string> = {
  new_recipient: 'This recipient has not been paid before.',
  new_device: 'This key has not paid from this device before.',
  similar_recipient: 'The address looks like one that was paid before but is another one.',
  automatic_limit: 'The amount is over what is left for payments without confirmation.',
  asserted_limit: 'The amount is over what the agent may pay on its word in 24 hours.',
  asserted_new_recipient_limit: 'The amount is over what the agent may pay to a new recipient.',
  daily_spending_cap: 'The amount is over what is left of the daily spending cap.',
}

/** A reason in the form of the wire. */
export function reasonBody(reason: Reason) {
  const { code, headroomUsdMicros, resetsAt } = reason
  const left = headroomUsdMicros === undefined ? undefined : formatUsd(headroomUsdMicros)
  return {
    code,
    message:
      left === undefined ? sentences[code] : `${sentences[code]} It lets ${left} USD through.`,
    ...(left === undefined ? {} : { headroom_usd: left }),
    ...(resetsAt === undefined ? {} : { resets_at: resetsAt }),
  }
}
