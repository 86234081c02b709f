/**
 * Enters a transfer in the ledger, or finds the one that the caller continues. Reserves and signs nothing.
 */
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import type { Context } from '../../http/handler.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'
import { paymentWithFactsRow } from '../payment-with-facts.ts'
import { ownWallet } from './own-wallet.ts'
import type { TransferOrder } from './transfer-order.ts'

/** Seconds that a transfer waits for a confirmation, the owner's included: one day. */
const expiresInSeconds = 86_400

/** Enters a transfer. `transferId` continues an entered one, which must have the terms of the order. */
export async function enterTransfer(
  context: Context,
  order: TransferOrder,
  { transferId, memo }: { transferId: string | undefined; memo: string | undefined },
): Promise<
  PaymentWithFacts | Refusal<'payment_not_found' | 'recipient_refused' | 'terms_changed'>
> {
  const device = await context.device()
  if (transferId === undefined) return enterOrder(context, order, device, memo)
  const expected = termsOf(order)
  const question = { payment: transferId, kind: 'transfer', device, expected }
  const found = await context.db.one('payment_facts', question, paymentWithFactsRow)
  if (!found) return fail('payment_not_found')
  return hasTerms(found, order) ? found : fail('terms_changed', otherTransfer)
}

async function enterOrder(
  context: Context,
  order: TransferOrder,
  device: string,
  memo: string | undefined,
): Promise<PaymentWithFacts | Refusal<'recipient_refused' | 'terms_changed'>> {
  const terms = {
    ...termsOf(order),
    kind: 'transfer',
    device,
    amount_usd_micros: order.usdMicros.toString(),
    terms: order.terms ?? {},
    expires_in_seconds: expiresInSeconds,
    ...(memo === undefined ? {} : { memo }),
    ...(context.claim === null ? {} : { claim: context.claim, keyed: true }),
  }
  const entered = await context.db.one('begin_payment', terms, paymentWithFactsRow)
  if (!entered) return ownWallet
  // Another request with this claim may have entered it.
  return hasTerms(entered, order) ? entered : fail('terms_changed', otherTransfer)
}

const otherTransfer = {
  message: 'The transfer of this transfer_id has another recipient, chain, token or amount.',
  hint: 'Send it with its own terms, or leave transfer_id out to enter another transfer.',
}

/** Returns the terms of an order that the ledger holds it to. */
function termsOf({ recipient, chain, token, amountAtomic }: TransferOrder) {
  return {
    ...(recipient.kind === 'address'
      ? { payee: recipient.address }
      : { payee_alias: recipient.alias }),
    chain: chain.id,
    token: token.address,
    amount_atomic: amountAtomic.toString(),
  }
}

function hasTerms({ payment_row: payment }: PaymentWithFacts, order: TransferOrder): boolean {
  const { recipient } = order
  const isSamePayee =
    recipient.kind === 'address'
      ? recipient.address === payment.payee
      : recipient.alias === payment.payee_alias
  return (
    isSamePayee &&
    payment.chain === order.chain.id &&
    payment.token === order.token.address &&
    payment.amount_atomic === order.amountAtomic
  )
}
