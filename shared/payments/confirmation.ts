/** Describes the confirmation that a payment waits for, or waited for. */
import { paymentTerms, termsDigest } from '../consent/terms.ts'
import type { Config } from '../env.ts'
import type { Payment } from './payment.ts'

/** Decision of the owner about a payment, if there is one. */
export type OwnersDecision = 'approved' | 'declined' | null

/** Returns the confirmation in its wire form, or undefined if nobody was asked for one. */
export async function confirmationBody(
  { WEB_URL }: Pick<Config, 'WEB_URL'>,
  payment: Payment,
  decision: OwnersDecision,
  now: Date,
) {
  const { id, asked_level: level, expires_at } = payment
  if (level === null) return undefined
  return {
    level,
    digest: await termsDigest(paymentTerms(payment)),
    expires_at,
    status: statusOf(payment, decision, now),
    url: `${WEB_URL}/approve/${id}`,
  }
}

function statusOf(
  { state, expires_at, consent_level }: Payment,
  decision: OwnersDecision,
  now: Date,
) {
  if (state === 'declined') return 'declined' as const
  if (decision === 'approved' || consent_level !== null) return 'approved' as const
  const isOver = state === 'expired' || Date.parse(expires_at) <= now.getTime()
  return isOver ? ('expired' as const) : ('pending' as const)
}
