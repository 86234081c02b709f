import type { Handler } from '../../shared/http/handler.ts'
import { activityItem, activityRow } from '../../shared/payments/show/activity.ts'
import type { walletActivityList } from './contract.ts'

const limitDefault = 20

/** Answers one page of the activity. */
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
    items: shown.map(activityItem),
    next_cursor: rows.length > page && last ? last.id : null,
  }
}
