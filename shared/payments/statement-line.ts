/** One payment in the statement of a mandate: what it counts, what the chain shows, what came of it. */
import * as z from 'zod'
import { assetOf } from '../chains/registry.ts'
import { bigintText, time } from '../db/row-fields.ts'
import { formatAmount, formatUsd } from '../money/amount.ts'
import { paymentRow } from './payment.ts'
import { statusOf } from './words.ts'

/** What api.list_mandate_payments answers; the delivery comes without the merchant's body. */
export const statementRow = z.object({
  payment_row: paymentRow.extend({
    authorized_at: time,
    settled_at: time.nullable(),
    delivery: z.object({ kind: z.string(), status: z.int().optional() }).nullable(),
  }),
  /** What it uses of the mandate: nothing where it gave back what it had reserved. */
  counted_usd_micros: bigintText,
  paid_by: z.string(),
})

/** The line in the form of the wire. */
export function statementLine({ payment_row: payment, ...row }: z.output<typeof statementRow>) {
  const { chain, token } = assetOf(payment)
  const amountAtomic = payment.settled_atomic ?? payment.amount_atomic
  const { delivery, tx_hash: hash, block_number: block } = payment
  const origin = payment.terms['origin']
  return {
    payment_id: payment.id,
    kind: payment.kind,
    status: statusOf(payment.state),
    finality: payment.finality,
    amount: formatAmount(amountAtomic, token.decimals),
    amount_atomic: amountAtomic.toString(),
    counted_usd: formatUsd(row.counted_usd_micros),
    chain: chain.caip2,
    token: token.symbol,
    pay_to: payment.payee,
    origin: typeof origin === 'string' ? origin : null,
    paid_by: row.paid_by,
    authorized_at: payment.authorized_at,
    settled_at: payment.settled_at,
    tx_hash: hash,
    block_number: block?.toString() ?? null,
    explorer_url: hash === null ? null : `${chain.explorerUrl}/tx/${hash}`,
    delivery: delivery && { kind: delivery.kind, http_status: delivery.status ?? null },
  }
}
