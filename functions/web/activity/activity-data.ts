/** Rows of the activity, one for each payment, deposit and other event. */
import * as z from 'zod'
import { activityRow } from '../../../shared/payments/show/activity.ts'
import { visibleLine } from '../../../shared/text/untrusted.ts'
import type { World } from '../../../shared/world.ts'
import type { Reader } from '../ui/zone.ts'
import type { Owner } from '../visit.ts'
import { type Asked, filterOf, positionOf } from './activity-query.ts'

const agentName = z.string().transform(visibleLine)

const listedRow = activityRow.extend({
  /** Key or app that asked for the payment, by name. */
  agent: agentName.nullable(),
  /** True if the owner approved the payment. */
  is_approved: z.boolean(),
  /** The owner's name for the payee. */
  label: z.string().nullable(),
})
/** Row of the list; its id is that of the payment, if it is one. */
export type ListedRow = z.output<typeof listedRow>
/** Row of any list of the feed's items. */
export type Row = z.output<typeof activityRow> & Partial<ListedRow>

/** Reader and settings by which filters are understood. */
export type Meant = { reader: Reader; world: World }

/** Lists a page of the activity; `isMoney` leaves out all but payments and deposits. */
export function listActivity(
  { db }: Owner,
  query: Asked,
  { reader, world, page, isMoney = false }: Meant & { page: number; isMoney?: boolean },
): Promise<ListedRow[]> {
  const filter = filterOf(query, reader, world.config)
  const shown = { hidden: query.hidden === 'yes', is_money: isMoney }
  return db.many('owner_list_activity', { page, filter, ...positionOf(query), ...shown }, listedRow)
}

/** Lists the newest rows, as the first page shows them. */
export function listNewest({ db }: Owner, page: number): Promise<ListedRow[]> {
  return db.many('owner_list_activity', { page }, listedRow)
}

const agentRow = z.object({ id: z.uuid(), name: agentName })

/** Lists keys and apps by name. */
export function listAgents({ db }: Owner) {
  return db.many('owner_list_agents', {}, agentRow)
}
