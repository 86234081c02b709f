/**
 * The content of consent: the terms of a payment or of a mandate as canonical JSON (RFC 8785), and their
 * digest. `consent.ts` has the terms of several payments at once. SQL computes the same from its own
 * rows, so consent cannot be moved to another payment or mandate, or to other terms.
 */
import canonicalize from 'canonicalize'
import { sha256Hex } from '../digest.ts'

/** Facts of a payment that its terms contain. */
export type PaymentFacts = {
  id: string
  account: string
  kind: 'transfer' | 'x402'
  /** Chain number of the CAIP-2 namespace eip155. */
  chain: number
  token: string
  payee: string
  amount_atomic: bigint
  /** Any RFC 3339 time; the terms state it in UTC with milliseconds. */
  expires_at: string
  terms: Readonly<Record<string, unknown>>
} & Asker & {
    /** Ticks of the owner beside the approval; the device by its fingerprint. */
    remembers_payee: boolean
    remembered_device: string | null
    /** True if it may pass the daily spending cap. */
    passes_daily_cap: boolean
  }

/** Permission to pay: for the key or app that asked, with its successors, or for any key of the account. */
type Asker = { asked_by: string; for_any_key: boolean }

/** Returns the terms of one payment. */
export function paymentTerms(payment: PaymentFacts) {
  const { origin, request_digest: requestDigest } = payment.terms
  return {
    account_id: payment.account,
    amount_atomic: payment.amount_atomic.toString(),
    chain: caip2(payment.chain),
    expires_at: instant(payment.expires_at),
    ...(typeof origin === 'string' ? { origin } : {}),
    paid_by: paidBy(payment),
    ...(payment.passes_daily_cap ? { pass_daily_cap: true } : {}),
    pay_to: payment.payee,
    payment_id: payment.id,
    ...(payment.remembered_device === null ? {} : { remember_device: payment.remembered_device }),
    ...(payment.remembers_payee ? { remember_payee: true } : {}),
    ...(typeof requestDigest === 'string' ? { request_digest: requestDigest } : {}),
    token: payment.token,
    type: payment.kind,
    v: 1,
  }
}

/** Facts of a mandate that its terms contain; null sets no limit or pins nothing. */
export type MandateFacts = Asker & {
  /** Fingerprint of the device that asked. */
  device: string
  id: string
  account: string
  merchant_domain: string
  include_subdomains: boolean
  max_payment_usd_micros: bigint
  max_day_usd_micros: bigint | null
  max_total_usd_micros: bigint | null
  max_payments: number | null
  chains: readonly number[] | null
  tokens: readonly string[] | null
  pay_to: readonly string[] | null
  expires_at: string
}

/**
 * Returns the terms of one mandate. Pinned lists are sorted, so their order in the request is irrelevant.
 */
export function mandateTerms(mandate: MandateFacts) {
  const { chains, tokens, pay_to: payTo, max_payments: maxPayments } = mandate
  const { max_day_usd_micros: maxDay, max_total_usd_micros: maxTotal } = mandate
  return {
    account_id: mandate.account,
    ...(chains ? { chains: [...chains].sort((a, b) => a - b).map(caip2) } : {}),
    device: mandate.device,
    expires_at: instant(mandate.expires_at),
    include_subdomains: mandate.include_subdomains,
    mandate_id: mandate.id,
    ...(maxDay === null ? {} : { max_amount_per_day_usd_micros: maxDay.toString() }),
    max_amount_per_payment_usd_micros: mandate.max_payment_usd_micros.toString(),
    ...(maxPayments === null ? {} : { max_payments: maxPayments }),
    ...(maxTotal === null ? {} : { max_total_usd_micros: maxTotal.toString() }),
    merchant_domain: mandate.merchant_domain,
    paid_by: paidBy(mandate),
    ...(payTo ? { pay_to: [...payTo].sort() } : {}),
    ...(tokens ? { tokens: [...tokens].sort() } : {}),
    type: 'mandate',
    v: 1,
  }
}

/**
 * Returns SHA-256 over "aoa-consent-v1", a zero byte and the canonical terms, in lower-case hex. Throws for
 * text that is not valid Unicode, because it has no canonical form.
 */
export function termsDigest(terms: object): Promise<string> {
  const canonical = canonicalize(terms)
  if (canonical === undefined) throw new Error('terms are a JSON object')
  return sha256Hex(`aoa-consent-v1\0${canonical}`)
}

function paidBy({ asked_by: asker, for_any_key: isForAny }: Asker): string {
  return isForAny ? 'any_key' : asker
}

function caip2(chain: number): string {
  return `eip155:${chain}`
}

function instant(time: string): string {
  return new Date(time).toISOString()
}
