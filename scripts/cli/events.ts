/** Names of events: what an event of the account is called, and how it is told apart from all others. */
import type { WalletActivityListAnswer } from '../client/operations.ts'

/** Item of the activity, as `wallet_activity_list` shows it. */
export type ActivityItem = WalletActivityListAnswer['items'][number]

/** Event: an item that is new, or the end of the payment that an item is about. */
export type AccountEvent = {
  /** Same for the same event, whoever reports it. */
  id: string
  /** Category and what happened, such as `deposit.received` or `transfer.settled`. */
  type: string
  timestamp: string
  data: ActivityItem
}

/** Statuses in which a payment is over. */
export const finalStatuses: readonly string[] = ['settled', 'released', 'expired', 'declined']

/** Returns the event of a new item, such as `mail.received` for `mail_received` of the category mail. */
export function eventOfItem(item: ActivityItem): AccountEvent {
  const { activity_id, category, type, at } = item
  const prefix = `${category}_`
  const happened = type.startsWith(prefix) ? type.slice(prefix.length) : type
  return { id: activity_id, type: `${category}.${happened}`, timestamp: at, data: item }
}

/** Returns the event of a payment that is over, by its newest item. */
export function eventOfEnd(item: ActivityItem, status: string, seenAt: Date): AccountEvent {
  const { activity_id, category } = item
  return {
    id: `${activity_id}_${status}`,
    type: `${category}.${status}`,
    timestamp: seenAt.toISOString(),
    data: item,
  }
}
