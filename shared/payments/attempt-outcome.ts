/**
 * What came of an x402 attempt, in the words of the interface. Settled is what the chain shows;
 * a merchant's word alone never makes a payment paid or unpaid.
 */
import * as z from 'zod'
import { decodeBytes, encodeBase64 } from '../base64.ts'
import { assetOf } from '../chains/registry.ts'
import type { Fetched } from '../egress/safe-fetch.ts'
import { formatAmount } from '../money/amount.ts'
import { readSettlementClaim } from '../x402/claim.ts'
import { askingOf, headersKept } from '../x402/delivery.ts'
import { readDemand } from '../x402/demand.ts'
import { isOffered } from './attempt-offered.ts'
import { termsOf } from './attempt-terms.ts'
import type { Payment } from './payment.ts'
import { summaryOf } from './words.ts'

const reason = z.object({ code: z.string(), message: z.string() })

/** The merchant's answer as it is kept with the payment. */
const deliveryRow = z.object({
  kind: z.enum(['answered', 'redirected', 'timeout', 'unreachable', 'refused']),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body_base64: z.string().optional(),
  truncated: z.boolean().optional(),
  reasons: z.array(reason),
})
/** A kept answer. */
export type Delivery = z.output<typeof deliveryRow>

/** Turns what was fetched into what is kept. */
export function deliveryOf(payment: Payment, fetched: Fetched, now: Date): Delivery {
  switch (fetched.kind) {
    case 'answered':
      return {
        kind: fetched.kind,
        status: fetched.status,
        headers: headersKept(fetched.headers),
        body_base64: encodeBase64(fetched.body),
        truncated: fetched.truncated,
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
      const message = `The merchant's answer could not be read: ${fetched.reason.slice(0, 200)}`
      return { kind: fetched.kind, reasons: [{ code: 'merchant_unreachable', message }] }
    }
  }
}

type Answered = Fetched & { kind: 'answered' }

function answerReasons(payment: Payment, fetched: Answered, now: Date) {
  if (isSettlementPending(fetched)) return [pending]
  return fetched.status === 402 ? refusedReasons(payment, fetched, now) : []
}

/** The transaction is broadcast and not yet included: no failure, whatever the status says. */
function isSettlementPending({ headers }: Answered): boolean {
  const claim = readSettlementClaim(headers)
  return claim?.errorReason === 'settlement_pending' && claim.transaction !== undefined
}

const pending = {
  code: 'settlement_pending',
  message: 'The merchant says that the settlement is under way.',
}

/** A 402 after payment: other terms than the frozen ones, or a refusal of the payment. */
function refusedReasons(payment: Payment, fetched: Answered, now: Date) {
  const terms = termsOf(payment)
  const again = readDemand(askingOf(fetched), terms.request, now)
  if (!('offers' in again) || isOffered(payment, terms, again)) {
    const said = 'error' in again && again.error ? ` It says: ${again.error}` : ''
    return [{ code: 'payment_refused', message: `The merchant refused the payment.${said}` }]
  }
  const message = 'The merchant now asks for other terms than those that were prepared.'
  return [{ code: 'terms_changed', message }]
}

/** The answer of x402_payment_execute for a payment that was signed. */
export function outcomeBody(payment: Payment) {
  const { chain, token } = assetOf(payment)
  const delivery = deliveryRow.nullish().parse(payment.delivery)
  const isOpen = ['authorized', 'signed', 'unknown'].includes(payment.state)
  return {
    attempt_id: payment.id,
    status: statusOf(payment, delivery),
    requires_user_confirm: false,
    reasons: [...(delivery?.reasons ?? []), ...endReasons(payment, isOpen)],
    summary: summaryOf(payment),
    ...(payment.tx_hash === null ? {} : { tx_hash: payment.tx_hash }),
    network: chain.caip2,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    ...takenOf(payment),
    finality: payment.finality,
    consent_level: payment.consent_level,
    ...(payment.mandate === null ? {} : { mandate_id: payment.mandate }),
    ...(isOpen && payment.valid_before !== null
      ? { reserved_until: new Date(payment.valid_before * 1000).toISOString() }
      : {}),
    ...(delivery?.status === undefined ? {} : { response: responseBody(delivery) }),
  }
}

/** What was taken, where the chain showed it. */
function takenOf(payment: Payment) {
  const { settled_atomic: taken } = payment
  if (taken === null) return {}
  const { decimals } = assetOf(payment).token
  return { settled_amount: formatAmount(taken, decimals), settled_amount_atomic: taken.toString() }
}

function endReasons({ state, terms, signature }: Payment, isOpen: boolean) {
  if (isOpen) return [unsettled]
  const hasEnded = state === 'released' && signature !== null
  return hasEnded && terms['scheme'] === 'upto' ? [nothingTaken] : []
}

const nothingTaken = {
  code: 'nothing_taken',
  message: 'The merchant took nothing of the amount before its permit expired. It is free again.',
}

/** Goes with every open outcome: until its time has passed, a merchant's refusal is only a word. */
const unsettled = {
  code: 'not_settled_yet',
  message:
    'The chain shows no settlement so far, and the merchant can still settle until reserved_until. Execute the attempt again to look; paying anew before could pay twice.',
}

function statusOf({ state }: Payment, delivery: Delivery | null | undefined) {
  const isAnswered = delivery?.kind === 'answered'
  const code = delivery?.status ?? 0
  if (state === 'settled') {
    const isDelivered = isAnswered && code >= 200 && code < 300
    return isDelivered ? ('settled' as const) : ('paid_not_delivered' as const)
  }
  if (state === 'failed' || state === 'released') return 'rejected_unpaid' as const
  const isRefused = isAnswered && code >= 400 && code < 500 && !isPending(delivery)
  return isRefused ? ('rejected_unpaid' as const) : ('unknown' as const)
}

function isPending(delivery: Delivery): boolean {
  return delivery.reasons.some(({ code }) => code === pending.code)
}

/** Seconds that a signature must still be good for, to be of use to whom it is sent. */
const leftSecondsMin = 5

/**
 * Whether the same signature is worth sending again: nothing was delivered and nothing refused, and
 * the merchant could still settle it. Where it was settled meanwhile, the token takes no second use.
 */
export function canSendAgain({ state, delivery, valid_before }: Payment, now: Date): boolean {
  const kept = deliveryRow.nullish().parse(delivery)
  const isOpen = state === 'unknown' && now.getTime() / 1000 + leftSecondsMin < (valid_before ?? 0)
  if (!isOpen || !kept) return false
  const isFailure = kept.kind === 'answered' && (kept.status ?? 0) >= 500
  const isLost = ['timeout', 'unreachable', 'refused'].includes(kept.kind)
  return isLost || isFailure || isPending(kept)
}

function responseBody({ status = 0, headers = {}, body_base64 = '', truncated = false }: Delivery) {
  const text = textOf(body_base64, truncated)
  const body = text === undefined ? { body_base64 } : { body: text }
  return { status, headers, ...body, truncated }
}

/**
 * Text where the bytes are UTF-8, so that an agent can read it. What JSON would escape at more
 * length than base64 has stays base64: so no body outgrows the limits of what keeps the answer.
 */
function textOf(base64: string, isCut: boolean): string | undefined {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    // A character that the limit cut in two is left out; anywhere else it would be no UTF-8.
    const text = decoder.decode(decodeBytes(base64), { stream: isCut })
    return JSON.stringify(text).length - 2 <= base64.length ? text : undefined
  } catch {
    return undefined
  }
}
