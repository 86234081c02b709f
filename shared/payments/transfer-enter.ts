/**
 * Enters a transfer in the ledger, or finds the one that the caller goes on with. Nothing is
 * reserved here and nothing is signed.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import type { Context } from '../http/handler.ts'
import type { Entered } from './entered.ts'
import { enteredRow } from './entered.ts'
import { ownWallet } from './own-wallet.ts'
import type { TransferOrder } from './transfer-order.ts'

/** How long a transfer waits for a confirmation, the owner's among them: until tomorrow. */
const expiresInSeconds = 86_400

/** `transferId` continues an entered transfer, which has to have the terms of the order. */
export async function enterTransfer(
  context: Context,
  order: TransferOrder,
  { transferId, memo }: { transferId: string | undefined; memo: string | undefined },
): Promise<Entered | Refusal<'payment_not_found' | 'recipient_refused' | 'terms_changed'>> {
  const device = await context.device()
  if (transferId === undefined) return begin(context, order, device, memo)
  const expected = termsOf(order)
  const question = { payment: transferId, kind: 'transfer', device, expected }
  const found = await context.db.one('payment_facts', question, enteredRow)
  if (!found) return fail('payment_not_found')
  return hasTerms(found, order) ? found : fail('terms_changed')
}

async function begin(
  context: Context,
  order: TransferOrder,
  device: string,
  memo: string | undefined,
): Promise<Entered | Refusal<'recipient_refused' | 'terms_changed'>> {
  const terms = {
    ...termsOf(order),
    kind: 'transfer',
    device,
    amount_usd_micros: order.usdMicros.toString(),
    terms: {},
    expires_in_seconds: expiresInSeconds,
    ...(memo === undefined ? {} : { memo }),
    ...(context.claim === null ? {} : { claim: context.claim }),
  }
  const entered = await context.db.one('begin_payment', terms, enteredRow)
  if (!entered) return ownWallet
  // Another request with this claim may have entered it.
  return hasTerms(entered, order) ? entered : fail('terms_changed')
}

/** What of an order the ledger holds it to. */
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

function hasTerms({ payment_row: payment }: Entered, order: TransferOrder): boolean {
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
