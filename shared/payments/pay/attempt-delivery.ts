/**
 * Keeps a merchant's answer to a paid request with the payment. It is only the merchant's claim: whether
 * the payment settled is read from the chain alone.
 */
import * as z from 'zod'
import { encodeBase64 } from '../../base64.ts'
import { untrustedText } from '../../contract/fields.ts'
import type { Fetched } from '../../egress/safe-fetch.ts'
import { untrusted } from '../../mail/untrusted.ts'
import { readSettlementHint } from '../../x402/claim.ts'
import { headersKept, paymentRequiredOf } from '../../x402/delivery.ts'
import { readOfferedTerms } from '../../x402/demand.ts'
import { isOffered } from '../enter/attempt-offered.ts'
import { termsOf } from '../enter/attempt-terms.ts'
import type { Payment } from '../payment.ts'

/** Reason in the service's own words, beside those of the merchant. */
const reason = z.object({
  code: z.string(),
  message: z.string(),
  untrusted: untrustedText.optional(),
})
const saidLengthMax = 256

/** Merchant's answer as it is stored with the payment. */
export const deliveryRow = z.object({
  kind: z.enum(['answered', 'redirected', 'timeout', 'unreachable', 'refused']),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body_base64: z.string().optional(),
  truncated: z.boolean().optional(),
  /** Seconds that the merchant asks to wait before the payment is sent to it again. */
  retry_after_seconds: z.int().optional(),
  reasons: z.array(reason),
})
/** Stored answer of a merchant. */
export type Delivery = z.output<typeof deliveryRow>

/** Converts a fetched response to the stored answer. */
export function deliveryOf(payment: Payment, fetched: Fetched, now: Date): Delivery {
  switch (fetched.kind) {
    case 'answered':
      return {
        kind: fetched.kind,
        status: fetched.status,
        headers: headersKept(fetched.headers),
        body_base64: encodeBase64(fetched.body),
        truncated: fetched.truncated,
        ...retryAfterOf(fetched, now),
        reasons: answerReasons(payment, fetched, now),
      }
    case 'redirected': {
      const message = 'The merchant redirected the paid request; the payment was not sent on.'
      return {
        kind: fetched.kind,
        status: fetched.status,
        reasons: [{ code: 'redirected', message }],
      }
    }
    case 'timeout': {
      const message = 'The merchant did not finish its answer in time.'
      return { kind: fetched.kind, reasons: [{ code: 'merchant_timeout', message }] }
    }
    case 'unreachable':
    case 'refused': {
      const message = "The merchant's answer could not be read."
      return { kind: fetched.kind, reasons: [{ code: 'merchant_unreachable', message }] }
    }
  }
}

type Answered = Fetched & { kind: 'answered' }

function answerReasons(payment: Payment, fetched: Answered, now: Date) {
  const { status } = fetched
  if (isSettlementPending(fetched)) return [pending]
  if (laterStatuses.includes(status)) return [laterReason(status)]
  if (status === 402) return refusedReasons(payment, fetched, now)
  return status >= 400 && status < 500 ? [refusal] : []
}

const refusal = { code: 'payment_refused', message: 'The merchant refused the payment.' }

/** Statuses of unprocessed requests: timeout, too early, too many requests (RFC 9110, 8470, 6585). */
const laterStatuses = [408, 425, 429]

function laterReason(status: number) {
  const message = `The merchant says later, and not no (status ${status}): the same payment can be sent again.`
  return { code: 'later', message }
}

const retryAfterSecondsMax = 86_400

/** Reads Retry-After as seconds or a date (RFC 9110, section 10.2.3); ignores any other form. */
function retryAfterOf({ headers }: Answered, now: Date): Pick<Delivery, 'retry_after_seconds'> {
  const asked = headers.get('retry-after')?.trim() ?? ''
  const date = asked.endsWith('GMT') ? Date.parse(asked) : Number.NaN
  const seconds = /^[0-9]{1,9}$/.test(asked)
    ? Number(asked)
    : Math.ceil((date - now.getTime()) / 1000)
  if (Number.isNaN(seconds)) return {}
  return { retry_after_seconds: Math.min(Math.max(seconds, 0), retryAfterSecondsMax) }
}

/** True if the transaction is broadcast and not yet included: no failure, whatever the status says. */
function isSettlementPending({ headers }: Answered): boolean {
  const claim = readSettlementHint(headers)
  return claim?.errorReason === 'settlement_pending' && claim.transaction !== undefined
}

const pending = {
  code: 'settlement_pending',
  message: 'The merchant says that the settlement is under way.',
}

/** Returns why a 402 followed the payment: the terms differ from the frozen ones, or it is refused. */
function refusedReasons(payment: Payment, fetched: Answered, now: Date) {
  const terms = termsOf(payment)
  const again = readOfferedTerms(paymentRequiredOf(fetched), terms.request, now)
  if (!('offers' in again) || isOffered(payment, terms, again)) {
    if (!('error' in again) || !again.error) return [refusal]
    const from = new URL(terms.request.url).host
    return [{ ...refusal, untrusted: untrusted({ from, text: again.error }, saidLengthMax) }]
  }
  const message = 'The merchant now asks for other terms than those that were prepared.'
  const changed = { code: 'terms_changed', message }
  // A merchant that names a new payee for each order also refuses with a new payee.
  const toSamePayee = again.offers.map((offer) => ({ ...offer, payTo: payment.payee }))
  return isOffered(payment, terms, { offers: toSamePayee }) ? [refusal, changed] : [changed]
}

/** True if the merchant refused nothing and only has not settled or processed the payment yet. */
export function isUndecided({ reasons }: Delivery): boolean {
  return reasons.some(({ code }) => code === pending.code || code === 'later')
}
