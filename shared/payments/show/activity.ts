/**
 * Converts an item of the activity feed from its database row to its wire form. Payments and deposits show
 * their current state. Text of third parties is kept apart from the service's own sentences.
 */
import * as z from 'zod'
import { assetOf } from '../../chains/registry.ts'
import { activityCategory } from '../../contract/fields.ts'
import { formatAmount, formatUsd } from '../../money/amount.ts'
import { bigintText, time } from '../../money/row-fields.ts'
import { visibleText } from '../../text/untrusted.ts'
import { depositItem, depositRow } from '../deposits/deposit.ts'
import { type Payment, paymentRow } from '../payment.ts'
import { stateSentence, summaryOf } from '../words.ts'

/** Row that api.list_activity returns. */
export const activityRow = z.object({
  id: z.string(),
  at: z.string(),
  category: activityCategory,
  type: z.string(),
  summary: z.string().nullable(),
  payment: paymentRow.nullable(),
  untrusted: z.record(z.string(), z.string()).nullable(),
  deposit: depositRow.nullable(),
  mandate: z.uuid().nullable(),
  entry: z.uuid().nullable(),
  mail: z.uuid().nullable(),
})

/** Feed item in its wire form. Amount, token and chain are present for payments and deposits. */
export type ActivityItem = {
  activity_id: string
  at: string
  category: z.output<typeof activityCategory>
  type: string
  summary: string
  status?: string
  amount?: string
  token?: string
  chain?: string
  tx_hash?: string
  from?: { address: string; alias?: string }
  warning?: string
  ref?: { kind: string; id: string }
  untrusted?: Record<string, string>
}

/** Converts a row to a feed item. */
export function activityItem(row: z.output<typeof activityRow>): ActivityItem {
  const { id, at, category, type, summary, payment, deposit } = row
  const item: ActivityItem = {
    activity_id: id,
    at: new Date(at).toISOString(),
    category,
    type,
    summary: summary ?? '',
    ...(row.untrusted ? { untrusted: row.untrusted } : {}),
    ...refOf(row),
    ...(payment ? paymentItem(payment) : {}),
    ...(deposit ? depositItem(deposit) : {}),
  }
  return item.untrusted ? { ...item, untrusted: visible(item.untrusted) } : item
}

function visible(words: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(words).map(([name, text]) => [name, visibleText(text)]))
}

function refOf({ mandate, entry, mail }: z.output<typeof activityRow>) {
  const subjects = [
    { kind: 'mandate', id: mandate },
    { kind: 'credential', id: entry },
    { kind: 'mail', id: mail },
  ]
  for (const { kind, id } of subjects) if (id !== null) return { ref: { kind, id } }
  return {}
}

function paymentItem(payment: Payment) {
  const { chain, token } = assetOf(payment)
  return {
    summary: summaryOf(payment),
    status: stateSentence(payment.state),
    amount: formatAmount(payment.amount_atomic, token.decimals),
    token: token.symbol,
    chain: chain.caip2,
    ...(payment.tx_hash === null ? {} : { tx_hash: payment.tx_hash }),
    ref: { kind: payment.kind, id: payment.id },
    ...(payment.memo === null ? {} : { untrusted: { memo: payment.memo } }),
  }
}

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
    status: stateSentence(payment.state),
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
