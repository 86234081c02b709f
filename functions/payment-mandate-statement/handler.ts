import * as z from 'zod'
import { fail } from '../../shared/contract/errors.ts'
import * as field from '../../shared/contract/fields.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { mandateRow } from '../../shared/mandates/mandate-row.ts'
import { mandateBody } from '../../shared/mandates/order.ts'
import { time } from '../../shared/money/row-fields.ts'
import { statementLine, statementRow } from '../../shared/payments/show/activity.ts'
import type { paymentMandateStatement } from './contract.ts'

const consent = z.object({ level: field.ownersLevel, digest: z.string(), decided_at: time })
const foundRow = z.object({ mandate_row: mandateRow, consent: consent.nullable() })

const limitDefault = 20

/** Answers a mandate with the consent behind it and one page of its payments. */
export const run: Handler<typeof paymentMandateStatement> = async (input, { db, world }) => {
  const { mandate_id: mandate, limit, cursor } = input
  const page = Number(limit ?? limitDefault)
  const from = cursor === undefined ? {} : { before: cursor }
  const [found, lines] = await Promise.all([
    db.one('find_consent', { mandate }, foundRow),
    db.many('list_mandate_payments', { mandate, page: page + 1, ...from }, statementRow),
  ])
  if (!found) return fail('mandate_not_found')
  const shown = lines.slice(0, page)
  return {
    mandate: mandateBody(found.mandate_row, world.config),
    consent: found.consent,
    payments: shown.map(statementLine),
    next_cursor: lines.length > page ? (shown.at(-1)?.payment_row.id ?? null) : null,
  }
}
