import type { Handler } from '../../shared/http/handler.ts'
import { foundRow } from '../../shared/payments/payment.ts'
import { orderBody, source } from '../../shared/yield/body.ts'
import type { defiOrdersList } from './contract.ts'

const limitDefault = 20

/** Answers one page of the orders, or one order. */
export const run: Handler<typeof defiOrdersList> = async ({ order_id, limit, cursor }, { db }) => {
  const page = Number(limit ?? limitDefault)
  const question = {
    page: page + 1,
    ...(cursor === undefined ? {} : { before: cursor }),
    ...(order_id === undefined ? {} : { only_order: order_id }),
  }
  const rows = await db.many('list_orders', question, foundRow)
  const shown = rows.slice(0, page).map(({ payment_row }) => payment_row)
  return {
    orders: shown.map(orderBody),
    source,
    next_cursor: rows.length > page ? (shown.at(-1)?.id ?? null) : null,
  }
}
