/**
 * Describes the outcome of an x402 attempt in its wire form. A payment is settled only if the chain shows
 * it; a merchant's claim alone never makes a payment paid or unpaid.
 */
import * as z from 'zod'
import { decodeBytes, parseJson } from '../../base64.ts'
import { assetOf } from '../../chains/registry.ts'
import { fail } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { formatAmount } from '../../money/amount.ts'
import { executeCall, nextCall } from '../next-call.ts'
import { isUnderWay, type Payment } from '../payment.ts'
import { type Delivery, deliveryRow, isDelivered, isUndecided } from '../settle/attempt-delivery.ts'
import { summaryOf } from '../words.ts'

const pieceRow = z.object({ body_base64: z.string() })

/** A later piece of what was delivered, and its place; the first is 0. */
type DeliveredPiece = z.output<typeof pieceRow> & { place: number }

/** Returns the answer for a payment, with the first piece of what was delivered or the one at `place`. */
export async function outcomeOf(db: CallerDatabase, payment: Payment, place?: number) {
  if (place === undefined) return outcomeBody(payment)
  const piece = await db.one('delivered_piece', { payment: payment.id, place }, pieceRow)
  if (!piece) return fail('invalid_request', { message: 'The answer has no such piece.' })
  return outcomeBody(payment, { place, ...piece })
}

/** Returns the answer of x402_payment_execute for a payment that was signed. */
export function outcomeBody(payment: Payment, piece?: DeliveredPiece) {
  const { chain, token } = assetOf(payment)
  const delivery = deliveryRow.nullish().parse(payment.delivery)
  const isOpen = isUnderWay(payment.state)
  return {
    attempt_id: payment.id,
    status: attemptStatus(payment, delivery),
    requires_user_confirm: false,
    reasons: [...(delivery?.reasons ?? []), ...endReasons(payment, isOpen)],
    summary: summaryOf(payment),
    next: isDeliveryOutstanding(payment, delivery)
      ? executeCall(payment)
      : nextCall(payment, false),
    ...(payment.tx_hash === null ? {} : { tx_hash: payment.tx_hash }),
    network: chain.caip2,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    ...takenOf(payment, delivery),
    finality: payment.finality,
    consent_level: payment.consent_level,
    ...(payment.mandate === null ? {} : { mandate_id: payment.mandate }),
    ...(isOpen && payment.valid_before !== null
      ? { reserved_until: new Date(payment.valid_before * 1000).toISOString() }
      : {}),
    ...((isOpen || isDeliveryOutstanding(payment, delivery)) &&
    delivery?.retry_after_seconds !== undefined
      ? { retry_after_seconds: delivery.retry_after_seconds }
      : {}),
    ...(delivery?.status === undefined ? {} : { response: responseBody(delivery, piece) }),
  }
}

/** Returns the amount that was taken, if the chain showed it. */
function takenOf(payment: Payment, delivery: Delivery | null | undefined) {
  const taken = isDeliveredForNothing(payment, delivery) ? 0n : payment.settled_atomic
  if (taken === null) return {}
  const { decimals } = assetOf(payment).token
  return { settled_amount: formatAmount(taken, decimals), settled_amount_atomic: taken.toString() }
}

/** True if the merchant delivered and let a permit of `upto` end without taking anything of it. */
function isDeliveredForNothing(
  { state, signature, terms }: Payment,
  delivery: Delivery | null | undefined,
): boolean {
  const isOver = state === 'released' && signature !== null && terms['scheme'] === 'upto'
  return isOver && !!delivery && isDelivered(delivery)
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

/** Reason for every open outcome: until `reserved_until`, a merchant's refusal is only a claim. */
const unsettled = {
  code: 'not_settled_yet',
  message:
    'The chain shows no settlement so far, and the merchant can still settle until reserved_until. Execute the attempt again to look; paying anew before could pay twice.',
}

function attemptStatus(payment: Payment, delivery: Delivery | null | undefined) {
  if (payment.state === 'settled') {
    return delivery && isDelivered(delivery)
      ? ('settled' as const)
      : ('paid_not_delivered' as const)
  }
  if (isDeliveredForNothing(payment, delivery)) return 'settled' as const
  if (payment.state === 'released') return 'rejected_unpaid' as const
  return delivery?.is_refusal === true ? ('rejected_unpaid' as const) : ('unknown' as const)
}

/** True if the payment settled, and the merchant has not delivered what was bought. */
function isDeliveryOutstanding({ state }: Payment, delivery: Delivery | null | undefined): boolean {
  return state === 'settled' && !(delivery && isDelivered(delivery))
}

/** Seconds for which a signature must still be valid to be worth sending. */
const leftSecondsMin = 5
/** Seconds after the end of its signature for which a purchase is asked for (private.is_owed). */
const owedSeconds = 86_400

/**
 * True if the same signature is worth sending again: nothing was delivered or refused, and it is still
 * valid. Once settled, it is sent for a day longer, because servers that keep answers by payment give them
 * again. The token accepts no second use.
 */
export function canSendAgain(payment: Payment, now: Date): boolean {
  const kept = deliveryRow.nullish().parse(payment.delivery)
  const leftSeconds = (payment.valid_before ?? 0) - now.getTime() / 1000
  if (payment.state === 'settled') {
    return isDeliveryOutstanding(payment, kept) && leftSeconds > -owedSeconds
  }
  if (payment.state !== 'unknown' || !kept || leftSeconds <= leftSecondsMin) return false
  return isUndecided(kept) || !(isDelivered(kept) || kept.is_refusal === true)
}

function responseBody(delivery: Delivery, piece: DeliveredPiece | undefined) {
  const { status = 0, headers = {}, pieces } = delivery
  const next = (piece?.place ?? 0) + 1
  const hasMore = next < (pieces?.count ?? 1)
  const truncated = hasMore || delivery.truncated === true
  const { body_base64 = '' } = piece ?? delivery
  const text = decodedBody(body_base64, truncated)
  const body = text === undefined ? { body_base64 } : textBody(text, headers, truncated || !!piece)
  return { status, headers, ...body, truncated, ...(hasMore ? { next_piece: next } : {}) }
}

/** Returns a text as the JSON value that it states, unless it is a part or a number would lose digits. */
function textBody(text: string, headers: Record<string, string>, isPart: boolean) {
  const isJson = /^application\/([\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '')
  const value = isJson && !isPart ? parseJson(text) : undefined
  if (value === undefined) return { body: text }
  const outsideStrings = text.replace(/"(?:[^"\\]|\\.)*"?/g, '""')
  return /[\d.]{16}|\de/i.test(outsideStrings) ? { body: text } : { body_json: value }
}

/**
 * Returns bytes that are UTF-8 as text, so that an agent can read them. Text that JSON would escape to more
 * than its base64 stays base64, so that no body exceeds the limits of what stores the answer.
 */
function decodedBody(base64: string, isCut: boolean): string | undefined {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    // A character that the limit cut in two is left out; anywhere else it would not be UTF-8.
    const text = decoder.decode(decodeBytes(base64), { stream: isCut })
    return JSON.stringify(text).length - 2 <= base64.length ? text : undefined
  } catch {
    return undefined
  }
}

/** True if the merchant was already asked; then the chain is read before anything is sent. */
export function hasBeenSent({ state, delivery }: Payment): boolean {
  return state === 'settled' || state === 'released' || (state === 'unknown' && !!delivery)
}
