/**
 * Keeps a merchant's answer to a paid request with the payment. It is only the merchant's claim: whether
 * the payment settled is read from the chain alone.
 */
import * as z from 'zod'
import { encodeBase64 } from '../../base64.ts'
import { untrustedText } from '../../contract/fields.ts'
import type { Fetched, FetchedAnswer } from '../../egress/safe-fetch.ts'
import { untrusted } from '../../text/untrusted.ts'
import {
  hasSettlementHint,
  headersKept,
  paymentRequiredOf,
  piecesOf,
  readSettlementHint,
} from '../../x402/delivery.ts'
import {
  asksForPayment,
  isUpfront,
  mayFollowSettling,
  problemOf,
  readOfferedTerms,
} from '../../x402/offers.ts'
import { isOffered, termsOf } from '../enter/attempt-terms.ts'
import type { Payment } from '../payment.ts'

/** Reason in the service's own words, beside those of the merchant. */
const reason = z.object({
  code: z.string(),
  message: z.string(),
  untrusted: untrustedText.optional(),
})
type Reason = z.output<typeof reason>
const saidLengthMax = 256

/** Merchant's answer as it is stored with the payment. */
export const deliveryRow = z.object({
  kind: z.enum(['answered', 'timeout', 'unreachable', 'refused']),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body_base64: z.string().optional(),
  truncated: z.boolean().optional(),
  /** Present if the body is longer than its first piece, which stands here. */
  pieces: z.object({ answer: z.uuid(), count: z.int() }).optional(),
  /** Seconds that the merchant asks to wait before the payment is sent to it again. */
  retry_after_seconds: z.int().optional(),
  /** True if the merchant refused before it tried to settle, as far as its protocol tells. */
  is_refusal: z.boolean().optional(),
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
        ...answeredDelivery(payment, fetched),
        ...retryAfterOf(fetched, now),
        is_refusal: isRefusedUnsettled(payment, fetched),
        reasons: answerReasons(payment, fetched, now),
      }
    case 'timeout': {
      const message = 'The merchant did not finish its answer in time.'
      const reasons = [{ code: 'merchant_timeout', message }]
      return { kind: fetched.kind, ...answeredDelivery(payment, fetched.begun), reasons }
    }
    case 'unreachable': {
      const message = "The merchant's answer could not be read, or broke off."
      const reasons = [{ code: 'merchant_unreachable', message }]
      return { kind: fetched.kind, ...answeredDelivery(payment, fetched.begun), reasons }
    }
    case 'refused':
    case 'redirected': {
      const message = "The merchant's answer could not be read."
      return { kind: 'refused', reasons: [{ code: 'merchant_unreachable', message }] }
    }
  }
}

function answeredDelivery(payment: Payment, answer: FetchedAnswer | undefined): Partial<Delivery> {
  if (!answer) return {}
  const { status, headers, body, truncated } = answer
  const { url } = termsOf(payment).request
  const [first = body] = piecesOf(body)
  return { status, headers: headersKept(headers, url), body_base64: encodeBase64(first), truncated }
}

function answerReasons(payment: Payment, answer: FetchedAnswer, now: Date): Reason[] {
  const { status, headers } = answer
  if (isSettlementPending(answer)) return [pending]
  if (laterStatuses.includes(status)) return [laterReason(status)]
  if (status < 400) return headers.get('location') === null || status < 300 ? [] : [redirected]
  const terms = termsOf(payment)
  const asked = paymentRequiredOf(answer)
  const again = readOfferedTerms(asked, terms.request, now)
  const isRepeated = 'offers' in again
  const claim = readSettlementHint(headers)
  const said =
    claim?.errorMessage ??
    claim?.errorReason ??
    (isRepeated ? again.error : undefined) ??
    problemOf(asked.body)
  const from = new URL(terms.request.url).host
  const words =
    said === undefined ? {} : { untrusted: untrusted({ from, text: said }, saidLengthMax) }
  const failed = { ...failureReason(answer, isRepeated), ...words }
  if (isRepeated && !isOffered(payment, terms, again)) {
    // A merchant that names a new payee for each order also refuses with a new payee.
    const toSamePayee = again.offers.map((offer) => ({ ...offer, payTo: payment.payee }))
    return isOffered(payment, terms, { offers: toSamePayee }) ? [failed, changed] : [changed]
  }
  if (isRepeated || !asksForPayment(headers)) return [failed]
  return [failed, { code: again.refusal, message: again.message ?? '' }]
}

const redirected = {
  code: 'redirected',
  message:
    'The merchant answered with the address in response.headers.location, which was not followed: the payment goes nowhere else.',
}

const changed = {
  code: 'terms_changed',
  message: 'The merchant now asks for other terms than those that were prepared.',
}

/** Returns what the merchant did, in words that stay true whatever the chain shows later. */
function failureReason({ status, headers }: FetchedAnswer, isRepeated: boolean): Reason {
  const message = `The merchant answered with status ${status}.`
  if (hasSettlementHint(headers)) {
    return readSettlementHint(headers)?.success === true
      ? { code: 'not_delivered', message: `${message} It says that it has settled the payment.` }
      : { code: 'settlement_failed', message: `${message} It says that it failed to settle.` }
  }
  const isRefusal = status < 500 && (isRepeated || asksForPayment(headers))
  return isRefusal
    ? { code: 'payment_refused', message: 'The merchant refused the payment.' }
    : { code: 'not_delivered', message }
}

/**
 * True if the answer shows that the merchant has not tried to settle. Official servers verify a payment
 * first, and ask for it again in a header if they refuse it. Once settling was tried they say how it went
 * in another header, or nothing at all (a bare 402). Version 1 repeats its challenge in the body in both
 * cases. Any other 4xx is the resource's own, which comes before settling unless the payment goes first.
 */
function isRefusedUnsettled(payment: Payment, answer: FetchedAnswer): boolean {
  const { status, headers } = answer
  if (status < 400 || status >= 500 || hasSettlementHint(headers)) return false
  if (laterStatuses.includes(status)) return false
  if (mayFollowSettling(paymentRequiredOf(answer).body)) return false
  const { protocol, requirement } = termsOf(payment)
  const isPaidFirst = protocol === 'mpp' || isUpfront(requirement['extra'])
  return asksForPayment(headers) || (status !== 402 && !isPaidFirst)
}

/** Statuses of unprocessed requests: timeout, too early, too many requests (RFC 9110, 8470, 6585). */
const laterStatuses = [408, 425, 429]

function laterReason(status: number) {
  const message = `The merchant says later, and not no (status ${status}): the same payment can be sent again.`
  return { code: 'later', message }
}

const retryAfterSecondsMax = 86_400

/** Reads Retry-After as seconds or a date (RFC 9110, section 10.2.3); ignores any other form. */
function retryAfterOf({ headers }: FetchedAnswer, now: Date): Partial<Delivery> {
  const asked = headers.get('retry-after')?.trim() ?? ''
  const date = asked.endsWith('GMT') ? Date.parse(asked) : Number.NaN
  const seconds = /^[0-9]{1,9}$/.test(asked)
    ? Number(asked)
    : Math.ceil((date - now.getTime()) / 1000)
  if (Number.isNaN(seconds)) return {}
  return { retry_after_seconds: Math.min(Math.max(seconds, 0), retryAfterSecondsMax) }
}

/** True if the transaction is broadcast and not yet included: no failure, whatever the status says. */
function isSettlementPending({ headers }: FetchedAnswer): boolean {
  const claim = readSettlementHint(headers)
  return claim?.errorReason === 'settlement_pending' && claim.transaction !== undefined
}

const pending = {
  code: 'settlement_pending',
  message: 'The merchant says that the settlement is under way.',
}

/** True if the merchant refused nothing and only has not settled or processed the payment yet. */
export function isUndecided({ reasons }: Delivery): boolean {
  return reasons.some(({ code }) => code === pending.code || code === 'later')
}

/** True if the merchant answered in full with what is paid for: official servers settle all below 400. */
export function isDelivered({ kind, status = 0 }: Delivery): boolean {
  return kind === 'answered' && status >= 200 && status < 400
}
