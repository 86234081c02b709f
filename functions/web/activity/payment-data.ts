/** One payment as its page shows it. */
import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { time } from '../../../shared/money/row-fields.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import { visibleLine } from '../../../shared/text/untrusted.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import type { Owner, PageContext } from '../visit.ts'

const foundRow = z.object({
  payment_row: paymentRow,
  agent: z.string().transform(visibleLine),
  steps: z.array(z.object({ type: z.string(), at: time })),
  authorized_at: time.nullable(),
  latest_step_at: time.nullable(),
  settled_at: time.nullable(),
  /** Time since when its block is known to be final. */
  final_at: time.nullable(),
  approved_with: z.enum(['user_session', 'user_passkey']).nullable(),
  /** The owner's name for the payee. */
  label: z.string().nullable(),
})
/** Payment with its steps and the name of the agent that asked for it. */
export type FoundPayment = z.output<typeof foundRow>
/** Reads the payment of the address. One of another account answers exactly as a missing one. */
export async function findPayment(c: PageContext, { db }: Owner): Promise<FoundPayment> {
  const payment = c.req.param('payment') ?? ''
  const found = isUuid(payment)
    ? await db.one('owner_find_payment', { payment }, foundRow)
    : undefined
  if (!found) throw new Rejection(fail('not_found'))
  return found
}
