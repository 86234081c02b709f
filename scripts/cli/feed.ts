/**
 * Events out of the activity, which is read again and again from its newest item down. An item becomes visible after
 * younger ones if its transaction ends later, so each reading goes down to five minutes before the newest item of the
 * one before, by the times of the service. It finds each event once, if no transaction takes longer than that.
 */
import {
  type AccountEvent,
  type ActivityItem,
  eventOfEnd,
  eventOfItem,
  finalStatuses,
} from './events.ts'

/** Page of the activity. */
export type ActivityPage = { items: ActivityItem[]; next_cursor: string | null }

/** Effects that the feed needs, and what it begins with. */
export type FeedOptions = {
  readPage: (cursor: string | undefined) => Promise<ActivityPage>
  now: () => number
  /** Items from this time on are events at the first reading; none if absent. */
  since: number | undefined
  say: (line: string) => void
}

const overlapMilliseconds = 300_000
/** Items that are read to reach payments that are not over. */
const reachMax = 500
const itemsMax = 10_000

/** Returns a function that reads the activity and returns the events since its last call, oldest first. */
export function openFeed({
  readPage,
  now,
  since,
  say,
}: FeedOptions): () => Promise<AccountEvent[]> {
  let statuses: Statuses | undefined
  let newFrom = since ?? Number.POSITIVE_INFINITY
  // Payments that are not over when it begins are looked for, and have any id.
  let oldestOpen = 0
  return async () => {
    const items = await readItems(readPage, newFrom, oldestOpen)
    if (items.length >= itemsMax) say(`Events before the newest ${itemsMax} items are left out.`)
    const newest = newestOfPayments(items)
    const events = eventsIn(items, { statuses, newFrom, newest, seenAt: new Date(now()) })
    const overlapFrom = Math.max(...items.map(timeOf)) - overlapMilliseconds
    newFrom = statuses ? Math.max(newFrom, overlapFrom) : overlapFrom
    statuses = new Map(items.map(({ activity_id, status }) => [activity_id, status]))
    const open = [...newest.values()].filter((item) => !isOver(item))
    oldestOpen = Math.min(...open.map(({ activity_id }) => Number(activity_id)))
    return events
  }
}

/** Statuses of all items of the last reading, by id. */
type Statuses = ReadonlyMap<string, string | undefined>

const timeOf = ({ at }: ActivityItem) => Date.parse(at)

const isOver = ({ status = '' }: ActivityItem) => finalStatuses.includes(status)

/** Reads down to the overlap, and to the oldest payment that is not over where that is within reach. */
async function readItems(
  readPage: FeedOptions['readPage'],
  newFrom: number,
  oldestOpen: number,
): Promise<ActivityItem[]> {
  const items: ActivityItem[] = []
  let cursor: string | undefined
  do {
    const page = await readPage(cursor)
    items.push(...page.items)
    const [first, last] = [items[0], items.at(-1)]
    if (!first || !last || items.length >= itemsMax) break
    const isBelow = timeOf(last) < Math.min(newFrom, timeOf(first) - overlapMilliseconds)
    if (isBelow && (items.length >= reachMax || Number(last.activity_id) <= oldestOpen)) break
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return items
}

/** Returns the newest item of each payment by its id. */
function newestOfPayments(items: readonly ActivityItem[]): Map<string, ActivityItem> {
  const newest = new Map<string, ActivityItem>()
  for (const item of items) {
    const { kind = '', id = '' } = item.ref ?? {}
    if (['transfer', 'x402'].includes(kind) && !newest.has(id)) newest.set(id, item)
  }
  return newest
}

type Seen = {
  /** Absent at the first reading. */
  statuses: Statuses | undefined
  newFrom: number
  newest: ReadonlyMap<string, ActivityItem>
  seenAt: Date
}

/** Returns the events of new items and then those of payments that ended. */
function eventsIn(
  items: readonly ActivityItem[],
  { statuses, newFrom, newest, seenAt }: Seen,
): AccountEvent[] {
  const isKnown = ({ activity_id }: ActivityItem) => statuses?.has(activity_id) === true
  const isNew = (item: ActivityItem) => !isKnown(item) && timeOf(item) >= newFrom
  const hasChanged = (item: ActivityItem) =>
    isKnown(item) && statuses?.get(item.activity_id) !== item.status
  const ended = [...newest.values()].filter(
    (item) => isOver(item) && (isNew(item) || hasChanged(item)),
  )
  return [
    ...items.filter(isNew).toReversed().map(eventOfItem),
    ...ended.toReversed().map((item) => eventOfEnd(item, item.status ?? '', seenAt)),
  ]
}
