/** What the database tells of mandates, for the pages about them. */
import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { bigintText, time } from '../../../shared/db/row-fields.ts'
import { mandateRow } from '../../../shared/mandates/mandate-row.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import { ownersLevels } from '../../../shared/policy/facts.ts'
import { hostOf } from '../../../shared/policy/merchant-host.ts'
import type { PastPayment } from '../../../shared/policy/rehearsal.ts'
import { owner } from '../frame.ts'
import type { Visit } from '../visit.ts'
import { isUuid } from './approvals.ts'
import { passkeysRow } from './consent.ts'

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
    const host = hostOf(origin)
    const amountUsdMicros = row.amount_usd_micros
    const at = new Date(row.at)
    return { kind, state, chain, token, resource, host, amountUsdMicros, at, payTo: row.payee }
  })

/** One with what the owner decides from; the past is there while it waits. */
const openedRow = z.object({
  mandate_row: mandateRow,
  asked: z.object({
    /** The key or the app. */
    title: z.string(),
    /** An app's own word. */
    calls_itself: z.string().nullable(),
    /** The first digits of the fingerprint. */
    device: z.string(),
    device_known: z.boolean(),
  }),
  consent: z.object({ level: z.enum(ownersLevels) }).nullable(),
  past: z.array(pastRow),
  daily_spending_cap_usd_micros: bigintText,
  passkeys: passkeysRow,
  /** Those that it names, each with a known recipient whose address looks like it. */
  payees: z.array(z.object({ address: z.string(), similar: z.string().nullable() })),
})
export type OpenedMandate = z.output<typeof openedRow>

/** The mandate of the address; of a stranger's nothing is told but that there is none here. */
export async function openMandate(c: Visit): Promise<OpenedMandate> {
  const { db } = await owner(c)
  const mandate = c.req.param('mandate') ?? ''
  const opened = isUuid(mandate)
    ? await db.one('owner_read_mandate', { mandate }, openedRow)
    : undefined
  if (opened) return opened
  const message = 'This account has no such mandate. A link works only in the account it is for.'
  throw new Rejection(fail('mandate_not_found', { message }))
}

/** A line of the statement. */
export const paidRow = z.object({
  payment_row: paymentRow.extend({ authorized_at: time }),
  paid_by: z.string(),
})
export type Paid = z.output<typeof paidRow>
