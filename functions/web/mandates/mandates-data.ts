/** Mandates as the database answers them, for the pages about them. */
import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { mandateRow } from '../../../shared/mandates/mandate-row.ts'
import { bigintText, time } from '../../../shared/money/row-fields.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import { ownersLevels } from '../../../shared/policy/facts.ts'
import { payableHostOf } from '../../../shared/policy/mandate.ts'
import type { PastPayment } from '../../../shared/policy/rehearsal.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { passkeysRow } from '../approvals/consent-data.ts'
import { requireOwner } from '../frame.ts'
import type { PageContext } from '../visit.ts'

/** Row of the list of mandates. */
export const listedRow = z.object({ mandate_row: mandateRow })

const pastRow = z
  .object({
    at: time,
    kind: paymentRow.shape.kind,
    state: paymentRow.shape.state,
    amount_usd_micros: bigintText,
    origin: z.string().nullable(),
    resource: z.string().nullable(),
    chain: z.int(),
    token: z.string(),
    payee: z.string(),
  })
  .transform((row): PastPayment => {
    const { kind, state, chain, token, resource, origin } = row
    const host = payableHostOf(origin)
    const amountUsdMicros = row.amount_usd_micros
    const at = new Date(row.at)
    return { kind, state, chain, token, resource, host, amountUsdMicros, at, payTo: row.payee }
  })

/** Row of one mandate with what the owner decides from; `past` is filled while it waits for approval. */
const openedRow = z.object({
  mandate_row: mandateRow,
  asked: z.object({
    /** Name of the key or the app. */
    title: z.string(),
    /** Name that an app gave itself, unchecked. */
    calls_itself: z.string().nullable(),
    /** First digits of the fingerprint. */
    device: z.string(),
    device_known: z.boolean(),
  }),
  consent: z.object({ level: z.enum(ownersLevels) }).nullable(),
  past: z.array(pastRow),
  daily_spending_cap_usd_micros: bigintText,
  passkeys: passkeysRow,
  /** Addresses that it names, each with a known recipient whose address looks similar. */
  payees: z.array(z.object({ address: z.string(), similar: z.string().nullable() })),
})
/** Mandate that is opened for a decision. */
export type OpenedMandate = z.output<typeof openedRow>

/** Reads the mandate of the address. One of another account answers exactly as a missing one. */
export async function openMandate(c: PageContext): Promise<OpenedMandate> {
  const { db } = await requireOwner(c)
  const mandate = c.req.param('mandate') ?? ''
  const opened = isUuid(mandate)
    ? await db.one('owner_read_mandate', { mandate }, openedRow)
    : undefined
  if (opened) return opened
  const message =
    'This account has no such mandate. The link works only in the account it was made for.'
  throw new Rejection(fail('mandate_not_found', { message }))
}

/** Row of a payment under a mandate, with who made it. */
export const paidRow = z.object({
  payment_row: paymentRow.extend({ authorized_at: time }),
  paid_by: z.string(),
})
/** Payment under a mandate. */
export type Paid = z.output<typeof paidRow>
