import * as z from 'zod'
import { assetOf } from '../../shared/chains/registry.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { formatAmount } from '../../shared/money/amount.ts'
import { depositItem, depositRow } from '../../shared/payments/deposit.ts'
import type { Payment } from '../../shared/payments/payment.ts'
import { paymentRow } from '../../shared/payments/payment.ts'
import { statusOf, summaryOf } from '../../shared/payments/words.ts'
import type { walletActivityList } from './contract.ts'
import { category } from './contract.ts'

const activityRow = z.object({
  id: z.string(),
  at: z.string(),
  category,
  type: z.string(),
  summary: z.string().nullable(),
  payment: paymentRow.nullable(),
  untrusted: z.record(z.string(), z.string()).nullable(),
  deposit: depositRow.nullable(),
})

const limitDefault = 20

export const run: Handler<typeof walletActivityList> = async (input, { db }) => {
  const page = Number(input.limit ?? limitDefault)
  const question = {
    page: page + 1,
    ...(input.cursor === undefined ? {} : { before: Number(input.cursor) }),
    ...(input.category === undefined ? {} : { only_category: input.category }),
    hidden: input.hidden === 'true',
  }
  const rows = await db.many('list_activity', question, activityRow)
  const shown = rows.slice(0, page)
  const last = shown.at(-1)
  return {
    items: shown.map(({ id, payment, deposit, summary, at, untrusted, ...item }) => ({
      activity_id: id,
      at: new Date(at).toISOString(),
      ...item,
      summary: summary ?? '',
      ...(untrusted ? { untrusted } : {}),
      ...(payment ? paymentItem(payment) : {}),
      ...(deposit ? depositItem(deposit) : {}),
    })),
    next_cursor: rows.length > page && last ? last.id : null,
  }
}

function paymentItem(payment: Payment) {
  const { chain, token } = assetOf(payment)
  return {
    summary: summaryOf(payment),
    status: statusOf(payment.state),
    amount: formatAmount(payment.amount_atomic, token.decimals),
    token: token.symbol,
    chain: chain.caip2,
    ...(payment.tx_hash === null ? {} : { tx_hash: payment.tx_hash }),
    ref: { kind: payment.kind, id: payment.id },
    ...(payment.memo === null ? {} : { untrusted: { memo: payment.memo } }),
  }
}
