import { fail } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { foundRow } from '../../shared/payments/payment.ts'
import { orderBody, source } from '../../shared/yield/body.ts'
import type { defiOrderCancel } from './contract.ts'

/** Cancels an order; a second call answers the same. */
export const run: Handler<typeof defiOrderCancel> = async ({ order_id }, { db }) => {
  const found = await db.one('cancel_order', { of_order: order_id }, foundRow)
  if (!found) return fail('payment_not_found')
  const { payment_row: payment } = found
  if (payment.state === 'expired') return { order: orderBody(payment), source }
  const message = 'The order is signed or over. A signature ends after ten minutes at most.'
  return fail('payment_closed', { message, hint: 'See defi_order_events for what came of it.' })
}
