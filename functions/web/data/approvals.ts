/** What the database tells of payments that wait for the owner. */
import * as z from 'zod'
import { time } from '../../../shared/db/row-fields.ts'
import { factsRow } from '../../../shared/payments/entered.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import type { Owner } from '../visit.ts'
import { passkeysRow } from './consent.ts'

/** As private.approval_json makes it. */
const approvalRow = z.object({
  payment_row: paymentRow,
  asked: z.object({
    /** The key or the app. */
    title: z.string(),
    /** An app's own word. */
    calls_itself: z.string().nullable(),
    /** The first digits of the fingerprint. */
    device: z.string(),
    fingerprint: z.string(),
    device_known: z.boolean(),
    /** Key and device as one text, by which a decision is bound to them. */
    asker: z.string(),
  }),
  decision: z.enum(['approved', 'declined']).nullable(),
  decided_at: time.nullable(),
})
export type Approval = z.output<typeof approvalRow>

export const listedRow = z.object({ approvals: z.array(approvalRow), waiting: z.int() })

/** One with the figures that the decision is taken from, and what the account consents with. */
const openedRow = z.object({ approval: approvalRow, facts: factsRow, passkeys: passkeysRow })
export type Opened = z.output<typeof openedRow>

/** Those of the account among these payments, in this order; of a stranger's nothing is told. */
export function openApprovals({ db }: Owner, payments: readonly string[]): Promise<Opened[]> {
  const ids = payments.filter(isUuid)
  return db.many('owner_read_approvals', { payments: ids }, openedRow)
}

/** Whether a part of an address can be an id. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/** Where a request stands for its owner. `other` never waited for the owner. */
export type Standing = 'waiting' | 'approved' | 'declined' | 'expired' | 'used' | 'other'

export function standingOf({ payment_row, decision }: Approval, nowSeconds: number): Standing {
  const { state, expires_at, consent_level } = payment_row
  if (state === 'declined') return 'declined'
  const isOpen = state === 'awaiting_confirmation'
  const isOver = Date.parse(expires_at) <= nowSeconds * 1000
  if (state === 'expired' || (isOpen && isOver)) return 'expired'
  // It is reserved, and can be taken back until it is signed.
  const isUnsigned = state === 'authorized'
  if (decision === 'approved' && (isOpen || isUnsigned)) return 'approved'
  if (isOpen) return 'waiting'
  return consent_level === null ? 'other' : 'used'
}
