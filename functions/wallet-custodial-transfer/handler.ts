import { isRefusal } from '../../shared/contract/errors.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import { decisionMakerFor, refuseEnded } from '../../shared/payments/decide/judge.ts'
import { findAsset } from '../../shared/payments/enter/transfer-asset.ts'
import { enterTransfer } from '../../shared/payments/enter/transfer-enter.ts'
import { readTransferOrder } from '../../shared/payments/enter/transfer-order.ts'
import type { SigningResult } from '../../shared/payments/pay/authorize.ts'
import { sendTransfer } from '../../shared/payments/pay/transfer.ts'
import type { Payment } from '../../shared/payments/payment.ts'
import { foundRow } from '../../shared/payments/payment.ts'
import { transferBody } from '../../shared/payments/show/transfer-body.ts'
import type { walletCustodialTransfer } from './contract.ts'

/** Enters a transfer, or finds the one of `transfer_id`, and sends it once the rules are met. */
export const run: Handler<typeof walletCustodialTransfer> = async (input, context) => {
  const asset = await findAsset(context, input)
  if (isRefusal(asset)) return asset
  const order = readTransferOrder(input, asset, context.world.config)
  if (isRefusal(order)) return order
  const { transfer_id: transferId, memo } = input
  const entered = await enterTransfer(context, order, { transferId, memo })
  if (isRefusal(entered)) return entered
  const payment = entered.payment_row
  const ended = refuseEnded(entered, 'Enter it again.')
  if (ended) return ended
  if (!isOpen(payment)) return transferBody(payment)
  const decisionMaker = decisionMakerFor(
    context,
    input.user_confirmed === true,
    transferId !== undefined,
  )
  const authorized = await sendTransfer(context, entered, decisionMaker)
  if (isRefusal(authorized)) return (await signedMeanwhile(context, payment)) ?? authorized
  return answerOf(payment, authorized)
}

/** Answers a payment that another request signed after this one had read it; its id stays the same. */
async function signedMeanwhile({ db }: Context, { id }: Payment) {
  const found = await db.one('find_payment', { payment: id }, foundRow)
  const payment = found?.payment_row
  const isSigned = payment && ['signed', 'unknown', 'settled'].includes(payment.state)
  return isSigned ? transferBody(payment) : undefined
}

/** True while the caller can take it further; housekeeping sends again what is signed. */
function isOpen({ state }: Payment): boolean {
  return ['prepared', 'awaiting_confirmation', 'authorized'].includes(state)
}

type Answered = Exclude<SigningResult, { refusal: unknown }>

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
