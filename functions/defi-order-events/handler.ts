import * as z from 'zod'
import { orderEvents } from '../../shared/contract/yield.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { bigintText, time } from '../../shared/money/row-fields.ts'
import { signedUsdc, source } from '../../shared/yield/body.ts'
import type { defiOrderEvents } from './contract.ts'

const eventRow = z.object({
  id: z.string(),
  order_id: z.uuid().nullable(),
  event: z.enum(orderEvents),
  at: time,
  vault: z.string(),
  accrued_atomic: bigintText.nullable(),
  tx_hash: z.string().nullable(),
  block_number: z.string().nullable(),
  block_hash: z.string().nullable(),
})

const limitDefault = 20

/** Answers one page of the events. */
export const run: Handler<typeof defiOrderEvents> = async ({ order_id, limit, cursor }, { db }) => {
  const page = Number(limit ?? limitDefault)
  const question = {
    page: page + 1,
    ...(cursor === undefined ? {} : { before: cursor }),
    ...(order_id === undefined ? {} : { only_order: order_id }),
  }
  const rows = await db.many('list_order_events', question, eventRow)
  const shown = rows.slice(0, page)
  return {
    events: shown.map(({ id: event_id, accrued_atomic: accrued, ...event }) => ({
      event_id,
      ...event,
      accrued: accrued === null ? null : signedUsdc(accrued),
    })),
    source,
    next_cursor: rows.length > page ? (shown.at(-1)?.id ?? null) : null,
  }
}
