import { isRefusal } from '../../shared/contract/errors.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import type { Authorized } from '../../shared/payments/authorize.ts'
import { judgeFor, refuseEnded } from '../../shared/payments/judge.ts'
import type { Payment } from '../../shared/payments/payment.ts'
import { foundRow } from '../../shared/payments/payment.ts'
import { sendTransfer } from '../../shared/payments/transfer.ts'
import { transferBody } from '../../shared/payments/transfer-body.ts'
import { enterTransfer } from '../../shared/payments/transfer-enter.ts'
import { readOrder } from '../../shared/payments/transfer-order.ts'
import type { walletCustodialTransfer } from './contract.ts'

export const run: Handler<typeof walletCustodialTransfer> = async (input, context) => {
  const order = readOrder(input, context.world.config)
  if (isRefusal(order)) return order
  const { transfer_id: transferId, memo } = input
  const entered = await enterTransfer(context, order, { transferId, memo })
  if (isRefusal(entered)) return entered
  const payment = entered.payment_row
  const ended = refuseEnded(entered, 'Enter it again.')
  if (ended) return ended
  if (!isOpen(payment)) return transferBody(payment)
  const judge = judgeFor(context, input.user_confirmed === true)
  const authorized = await sendTransfer(context, entered, judge)
  if (isRefusal(authorized)) return (await signedMeanwhile(context, payment)) ?? authorized
  return answerOf(payment, authorized)
}

/** Another request may have signed it since it was read; then that is the answer, with its id. */
async function signedMeanwhile({ db }: Context, { id }: Payment) {
  const found = await db.one('find_payment', { payment: id }, foundRow)
  const payment = found?.payment_row
  const isSigned = payment && ['signed', 'unknown', 'settled'].includes(payment.state)
  return isSigned ? transferBody(payment) : undefined
}

/** Whether the caller can take it further; what is signed is sent again by housekeeping. */
function isOpen({ state }: Payment): boolean {
  return ['prepared', 'awaiting_confirmation', 'authorized'].includes(state)
}

type Answered = Exclude<Authorized, { refusal: unknown }>

function answerOf(payment: Payment, authorized: Answered) {
  if (authorized.outcome === 'confirm') {
    const body = transferBody({ ...payment, state: 'awaiting_confirmation' })
    return { ...body, ...authorized.asked }
  }
  return transferBody({
    ...payment,
    state: 'signed',
    finality: 'submitted',
    tx_hash: authorized.transaction?.hash ?? payment.tx_hash,
    consent_level: payment.consent_level ?? authorized.consentLevel,
    mandate: payment.mandate ?? authorized.mandateId ?? null,
  })
}
