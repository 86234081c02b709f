import { isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { decisionMakerFor, refuseEnded } from '../../shared/payments/decide/judge.ts'
import { enterTransfer } from '../../shared/payments/enter/transfer.ts'
import { nextCall } from '../../shared/payments/next-call.ts'
import { payEntered } from '../../shared/payments/pay/transfer.ts'
import { walletRow } from '../../shared/payments/payment.ts'
import { coveredBy } from '../../shared/payments/words.ts'
import { orderBody, source } from '../../shared/yield/body.ts'
import { readYieldOrder } from '../../shared/yield/order.ts'
import type { defiOrderCreate } from './contract.ts'

const slippageDefaultBps = 50

/** Enters an order, or finds the equal one that waits, and sends it once the rules are met. */
export const run: Handler<typeof defiOrderCreate> = async (input, context) => {
  const { user_confirmed: isConfirmed = false, ...wish } = input
  const { max_slippage_bps = slippageDefaultBps } = wish
  const wallet = await context.db.one('order_wallet', {}, walletRow)
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const order = await readYieldOrder(context.world, wallet.address, { ...wish, max_slippage_bps })
  if (isRefusal(order)) return order
  const entered = await enterTransfer(context, order, { transferId: undefined, memo: undefined })
  if (isRefusal(entered)) return entered
  const ended = refuseEnded(entered, 'Order it again.')
  if (ended) return ended
  const paid = await payEntered(context, entered, decisionMakerFor(context, isConfirmed))
  if (isRefusal(paid)) return paid
  const { payment, asked } = paid
  return {
    order: orderBody(payment),
    source,
    requires_user_confirm: false,
    reasons: [],
    next: nextCall(payment, false),
    ...coveredBy(payment.mandate),
    ...asked,
  }
}
