/**
 * Converts an item of the activity feed from its database row to its wire form. Payments and deposits show
 * their current state. Text of third parties is kept apart from the service's own sentences.
 */
import * as z from 'zod'
import { assetOf } from '../../chains/registry.ts'
import { activityCategory } from '../../contract/fields.ts'
import { visibleText } from '../../mail/untrusted.ts'
import { formatAmount } from '../../money/amount.ts'
import { depositItem, depositRow } from '../deposits/deposit.ts'
import type { Payment } from '../payment.ts'
import { paymentRow } from '../payment.ts'
import { statusOf, summaryOf } from '../words.ts'

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
    status: statusOf(payment.state),
    amount: formatAmount(payment.amount_atomic, token.decimals),
    token: token.symbol,
    chain: chain.caip2,
    ...(payment.tx_hash === null ? {} : { tx_hash: payment.tx_hash }),
    ref: { kind: payment.kind, id: payment.id },
    ...(payment.memo === null ? {} : { untrusted: { memo: payment.memo } }),
  }
}
