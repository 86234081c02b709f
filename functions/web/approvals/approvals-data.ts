/** Payments that wait for the owner, as the database answers them. */
import * as z from 'zod'
import { bigintText, time } from '../../../shared/money/row-fields.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import { factsRow } from '../../../shared/payments/payment-with-facts.ts'
import type { Owner } from '../visit.ts'
import { passkeysRow } from './consent-data.ts'

/** Row that private.approval_json makes. */
const approvalRow = z.object({
  payment_row: paymentRow,
  asked: z.object({
    /** Name of the key or the app; null for the owner. */
    title: z.string().nullable(),
    /** Name that an app gave itself, unchecked. */
    calls_itself: z.string().nullable(),
    /** First digits of the fingerprint. */
    device: z.string(),
    fingerprint: z.string(),
    device_known: z.boolean(),
    /** Key and device as one text; a decision is bound to both. */
    asker: z.string(),
  }),
  /** The owner's name for the payee. */
  label: z.string().nullable(),
  decision: z.enum(['approved', 'declined']).nullable(),
  decided_at: time.nullable(),
  /** True if an equal payment waits as well, or was paid within ten minutes. */
  is_duplicate: z.boolean(),
})
/** Payment with who asked for it and the decision, if there is one. */
export type Approval = z.output<typeof approvalRow>

const listedApproval = approvalRow.extend({
  /** True if its page shows no warning and no note: known payee, known device, a transfer. */
  is_plain: z.boolean(),
})
/** Payment of the list. */
export type ListedApproval = z.output<typeof listedApproval>

/** Row of the list: the newest payments that wait, and the number of all. */
export const listedRow = z.object({
  approvals: z.array(listedApproval),
  waiting: z.int(),
  needs_passkey: z.boolean(),
})

/** Row of one payment: the facts that the decision is made from, and the passkeys that can sign it. */
const openedRow = z.object({
  approval: approvalRow,
  facts: factsRow,
  passkeys: passkeysRow,
  /** Settled payments to the same payee. */
  paid_before: z.object({ count: z.int(), usd_micros: bigintText }),
})
/** Payment that is opened for a decision. */
export type OpenedApproval = z.output<typeof openedRow>

/** Reads those of the payments that belong to the account, in this order; others are left out. */
export function openApprovals(
  { db }: Owner,
  payments: readonly string[],
): Promise<OpenedApproval[]> {
  const ids = payments.filter(isUuid)
  return db.many('owner_read_approvals', { payments: ids }, openedRow)
}

/** True if a part of a path is a UUID. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/**
 * State of a request for its owner. After an approval it is sent, paid, or released unpaid. `used` is a
 * payment that went out without the owner, and `other` one that never waited for anybody.
 */
export type ApprovalStatus =
  | 'waiting'
  | 'approved'
  | 'sent'
  | 'paid'
  | 'unpaid'
  | 'declined'
  | 'expired'
  | 'used'
  | 'other'

/** Decides the standing of a request from its payment, the decision and the time. */
export function approvalStatusOf(
  { payment_row, decision }: Approval,
  nowSeconds: number,
): ApprovalStatus {
  const { state, expires_at, consent_level } = payment_row
  if (state === 'declined') return 'declined'
  const isOpen = state === 'awaiting_confirmation'
  const isOver = Date.parse(expires_at) <= nowSeconds * 1000
  if (state === 'expired' || (isOpen && isOver)) return 'expired'
  // It is reserved, and the approval can be withdrawn until the payment is signed.
  const isUnsigned = state === 'authorized'
  if (decision === 'approved' && (isOpen || isUnsigned)) return 'approved'
  if (isOpen) return 'waiting'
  if (decision === 'approved') return outcomes[state] ?? 'sent'
  return consent_level === null ? 'other' : 'used'
}

const outcomes: Readonly<Record<string, ApprovalStatus>> = { settled: 'paid', released: 'unpaid' }
