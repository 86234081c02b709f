/** Describes one payment in a mandate's statement: what it counts, what the chain shows, its outcome. */
import * as z from 'zod'
import { assetOf } from '../../chains/registry.ts'
import { bigintText, time } from '../../db/row-fields.ts'
import { formatAmount, formatUsd } from '../../money/amount.ts'
import { paymentRow } from '../payment.ts'
import { statusOf } from '../words.ts'

/** Row that api.list_mandate_payments returns; the delivery comes without the merchant's body. */
export const statementRow = z.object({
  payment_row: paymentRow.extend({
    authorized_at: time,
    settled_at: time.nullable(),
    delivery: z.object({ kind: z.string(), status: z.int().optional() }).nullable(),
  }),
  /** Amount that it uses of the mandate; zero if it gave back what it had reserved. */
  amount_usd_micros: bigintText,
  paid_by: z.string(),
})

/** Returns the line in its wire form. */
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
    counted_usd: formatUsd(row.amount_usd_micros),
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
