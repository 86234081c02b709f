/** What the database tells of payments that wait for the owner. */
import * as z from 'zod'
import { time } from '../../../shared/db/row-fields.ts'
import { factsRow, paymentRow } from '../../../shared/payments/payment.ts'

/** As private.approval_json makes it. */
const approvalRow = z.object({
  payment_row: paymentRow,
  asked: z.object({
    label: z.string(),
    shown: z.string(),
    /** The first digits of the fingerprint. */
    device: z.string(),
    device_known: z.boolean(),
    /** Key and device as one text, by which a decision is bound to them. */
    asker: z.string(),
  }),
  decision: z.enum(['approved', 'declined']).nullable(),
  decided_at: time.nullable(),
})
export type Approval = z.output<typeof approvalRow>

export const listedRow = z.object({ approvals: z.array(approvalRow), waiting: z.int() })

/** One with the figures that the decision is taken from. */
export const openedRow = z.object({ approval: approvalRow, facts: factsRow })
export type Opened = z.output<typeof openedRow>

/** Where a request stands for its owner. `other` never waited for the owner. */
export type Standing = 'waiting' | 'approved' | 'declined' | 'expired' | 'used' | 'other'

export function standingOf({ payment_row, decision }: Approval, nowSeconds: number): Standing {
  const { state, expires_at, consent_level } = payment_row
  if (state === 'declined') return 'declined'
  const isOpen = state === 'awaiting_confirmation'
  const isOver = Date.parse(expires_at) <= nowSeconds * 1000
  if (state === 'expired' || (isOpen && isOver)) return 'expired'
  if (isOpen) return decision === 'approved' ? 'approved' : 'waiting'
  return consent_level === null ? 'other' : 'used'
}
