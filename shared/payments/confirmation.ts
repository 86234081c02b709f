/** Describes the confirmation that a payment waits for, or waited for. */
import { paymentTerms, termsDigest } from '../consent/terms.ts'
import type { Config } from '../env.ts'
import { closingReason, type Payment } from './payment.ts'

/** Decision of the owner about a payment, if there is one. */
export type OwnersDecision = 'approved' | 'declined' | null

/** Returns the confirmation in its wire form, or undefined if nobody was asked for one. */
export async function confirmationBody(
  config: Pick<Config, 'WEB_URL'>,
  payment: Payment,
  decision: OwnersDecision,
  now: Date,
) {
  const { asked_level: level, expires_at, decline_reason } = payment
  if (level === null) return undefined
  return {
    level,
    digest: await termsDigest(paymentTerms(payment)),
    expires_at,
    status: confirmationStatus(payment, decision, now),
    url: approvalUrl(config, payment),
    ...(decline_reason === null ? {} : { decline_reason }),
  }
}

/** Returns the page on which the owner decides about a payment. */
export function approvalUrl({ WEB_URL }: Pick<Config, 'WEB_URL'>, { id }: Payment): string {
  return `${WEB_URL}/approve/${id}`
}

function confirmationStatus(payment: Payment, decision: OwnersDecision, now: Date) {
  const end = closingReason(payment, now.getTime() / 1000)
  if (end === 'declined') return end
  if (decision === 'approved' || payment.consent_level !== null) return 'approved' as const
  return end ?? ('pending' as const)
}
