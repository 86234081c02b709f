/** Items of the feed as a list; each leads to its own page. */
import type { ActivityItem } from '../../../shared/payments/activity.ts'
import { pagesBelow } from '../visit.ts'
import { forPeople } from './amounts.ts'
import { Badge, Time } from './show.tsx'

export const categories: Record<ActivityItem['category'], string> = {
  transfer: 'Transfer',
  deposit: 'Deposit',
  x402: 'Purchase',
  mandate: 'Mandate',
  vault: 'Vault',
  mail: 'Mail',
  security: 'Security',
  account: 'Account',
  defi: 'DeFi',
}

const states: Record<
  string,
  readonly [kind: 'plain' | 'good' | 'warning' | 'danger', word: string]
> = {
  awaiting_confirmation: ['warning', 'Waiting for approval'],
  submitted: ['plain', 'On its way'],
  unknown: ['warning', 'Not certain yet'],
  settled: ['good', 'Settled'],
  failed: ['danger', 'Failed'],
  released: ['plain', 'Not sent'],
  declined: ['plain', 'Declined'],
  expired: ['plain', 'Expired'],
  included: ['good', 'Arrived'],
  safe: ['good', 'Arrived'],
  finalized: ['good', 'Arrived, final'],
  reorged: ['danger', 'Taken back'],
}

export function State({ of }: { of: string }) {
  const [kind, word] = states[of] ?? ['plain', of]
  return <Badge kind={kind}>{word}</Badge>
}

export function Items({ items }: { items: readonly ActivityItem[] }) {
  return (
    <ul class="items">
      {items.map((item) => (
        <li>
          <a href={`${pagesBelow}/activity/${item.activity_id}`}>{item.summary}</a>
          <Amount item={item} />
          <span class="meta">
            <Time at={item.at} />
            <span>{categories[item.category]}</span>
            {item.status && <State of={item.status} />}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** With its sign: what came in is plus. */
function Amount({ item }: { item: ActivityItem }) {
  if (item.amount === undefined) return null
  const sign = item.category === 'deposit' ? '+' : '−'
  return (
    <span class="money amount">
      {sign}
      {forPeople(item.amount)} <span class="unit">{item.token}</span>
    </span>
  )
}
