/** Items of the activity as a list; each links to its own page. */
import type * as z from 'zod'
import {
  type ActivityItem,
  activityItem,
  type activityRow,
} from '../../../shared/payments/show/activity.ts'
import { merchantOf } from '../../../shared/payments/words.ts'
import { forPeople } from '../ui/amounts.ts'
import { Time } from '../ui/show.tsx'
import { State } from '../ui/state.tsx'
import { webAppPath } from '../visit.ts'

/** Titles of the categories. */
export const categories: Record<ActivityItem['category'], string> = {
  transfer: 'Transfer',
  deposit: 'Deposit',
  x402: 'Purchase',
  mandate: 'Mandate',
  vault: 'Vault',
  mail: 'Mail',
  security: 'Security',
  account: 'Account',
  defi: 'Yield',
}

type Row = z.output<typeof activityRow>

/** True if the item shows its state. A request that was sent later shows it at the item of the sending. */
function isTold({ type, status }: ActivityItem): boolean {
  return status !== undefined && (!(type in stepsBefore) || closedUnsent.has(status))
}

const closedUnsent = new Set(['awaiting_confirmation', 'declined', 'expired'])

/** Shows the items with headline, amount, time and state. */
export function Items({ rows }: { rows: readonly Row[] }) {
  return (
    <ul class="items">
      {rows.map((row) => {
        const item = activityItem(row)
        return (
          <li>
            <a href={`${webAppPath}/activity/${row.id}`}>{headlineOf(row, item)}</a>
            <Amount item={item} />
            <span class="meta">
              <Time at={item.at} />
              <span>{categories[row.category]}</span>
              {isTold(item) && <State of={item.status ?? ''} />}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

/** Returns whom the item is about. An address without a name is whole: a part is easily imitated. */
function headlineOf({ type, payment, deposit }: Row, item: ActivityItem): string {
  if (deposit) return `From ${deposit.sender_alias ?? deposit.sender}`
  if (!payment) return item.summary
  const payee = merchantOf(payment) ?? payment.payee_alias ?? payment.payee
  return `${stepsBefore[type] ?? 'To'} ${payee}`
}

/** Headlines of items that are not the sending itself; only the sending shows its amount with a sign. */
const stepsBefore: Readonly<Record<string, string>> = {
  confirmation_requested: 'An agent asked to pay',
  confirmation_approved: 'You approved a payment to',
  confirmation_declined: 'You declined a payment to',
  transfer_consent_invalid: 'Its approval did not hold, so nothing was paid to',
  x402_consent_invalid: 'Its approval did not hold, so nothing was paid to',
  transfer_reorged: 'The chain took back a payment to',
  x402_reorged: 'The chain took back a payment to',
}

/** Shows the amount, with a sign if money moved: plus for a deposit. */
function Amount({ item }: { item: ActivityItem }) {
  if (item.amount === undefined) return null
  const sign = item.type in stepsBefore ? '' : item.category === 'deposit' ? '+' : '−'
  return (
    <span class={sign === '' ? 'money amount quiet' : 'money amount'}>
      {sign}
      {forPeople(item.amount)} <span class="unit">{item.token}</span>
    </span>
  )
}
