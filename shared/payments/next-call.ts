/** The call that continues a payment, as the answers of paying operations tell it. */
import { assetOf } from '../chains/registry.ts'
import { formatAmount } from '../money/amount.ts'
import type { Payment } from './payment.ts'

/** Seconds that a status call is advised to wait. */
const advisedWaitSeconds = 25

/** Call that continues a payment, ready to be sent; undefined if it is over. */
export function nextCall(payment: Payment, isApproved: boolean) {
  const { id, state, asked_level } = payment
  const look = {
    tool: 'transfer_status',
    arguments: { transfer_id: id, wait_seconds: advisedWaitSeconds },
  }
  switch (state) {
    case 'prepared':
      return { ...paying(payment), when: 'Now, to pay it.' }
    case 'awaiting_confirmation':
      if (isApproved) return { ...paying(payment), when: 'Now: the owner approved it.' }
      return asked_level === 'agent_asserted'
        ? { ...paying(payment), when: 'Your user agreed to the summary.' }
        : { ...look, when: 'You gave your user confirmation.url; it waits for the decision.' }
    case 'authorized':
    case 'signed':
    case 'unknown':
      if (payment.kind === 'x402') return { ...executing(id, {}), when: 'To get the answer.' }
      return { ...look, when: 'To learn the outcome.' }
    case 'settled':
    case 'released':
    case 'expired':
    case 'declined':
      return undefined
  }
}

function paying(payment: Payment) {
  const { id, kind, payee, payee_alias } = payment
  const confirmed = payment.asked_level === null ? {} : { user_confirmed: true }
  if (kind === 'x402') return executing(id, confirmed)
  const { chain, token } = assetOf(payment)
  const order = {
    recipient: payee_alias ?? payee,
    chain: chain.caip2,
    token: token.symbol,
    amount: formatAmount(payment.amount_atomic, token.decimals),
  }
  return {
    tool: 'wallet_custodial_transfer',
    arguments: { ...order, transfer_id: id, ...confirmed },
  }
}

function executing(id: string, confirmed: object) {
  return { tool: 'x402_payment_execute', arguments: { attempt_id: id, ...confirmed } }
}

/** Call that asks a merchant again for what was paid for. */
export function executeCall({ id }: Payment) {
  return { ...executing(id, {}), when: 'To get what was paid for.' }
}
