import * as z from 'zod'
import { fail } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { readUntil } from '../../shared/http/input.ts'
import { mandateRow } from '../../shared/mandates/mandate-row.ts'
import { mandateBody } from '../../shared/mandates/order.ts'
import type { paymentMandateStatus } from './contract.ts'

const foundRow = z.object({ mandate_row: mandateRow, digest: z.string() })

const limitDefault = 20

/** Answers one mandate by its id, or one page of the account's mandates. */
export const run: Handler<typeof paymentMandateStatus> = async (input, { db, world }) => {
  const page = Number(input.limit ?? limitDefault)
  const question = {
    page: page + 1,
    ...(input.mandate_id === undefined ? {} : { mandate: input.mandate_id }),
    ...(input.status === undefined ? {} : { status: input.status }),
    ...(input.cursor === undefined ? {} : { before: Number(input.cursor) }),
  }
  const rows = await readUntil(
    world,
    Number(input.wait_seconds ?? 0),
    () => db.many('list_mandates', question, foundRow),
    ([found]) => found?.mandate_row.status !== 'pending_approval',
  )
  if (input.mandate_id !== undefined && rows.length === 0) return fail('mandate_not_found')
  const shown = rows.slice(0, page)
  const last = shown.at(-1)
  return {
    mandates: shown.map(({ mandate_row, digest }) => ({
      ...mandateBody(mandate_row, world.config),
      digest,
    })),
    next_cursor: rows.length > page && last ? last.mandate_row.number : null,
  }
}
