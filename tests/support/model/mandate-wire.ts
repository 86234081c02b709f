/** Mandates, consents and purchase history in the form in which the ledger returns them. */
import { paidBefore } from './limits.ts'
import { statusOf, usageOf } from './mandates.ts'
import type { Consent, Mandate, MandateTerms, Payment, Twin } from './state.ts'

export const timeText = (seconds: number | null) =>
  seconds === null ? null : new Date(seconds * 1000).toISOString().replace('.000Z', '+00:00')

function capsWire({ caps, subdomains, expiresAt }: MandateTerms) {
  return {
    max_payment_usd_micros: caps.payment.toString(),
    max_day_usd_micros: caps.day?.toString() ?? null,
    max_total_usd_micros: caps.total?.toString() ?? null,
    max_payments: caps.payments,
    include_subdomains: subdomains,
    expires_at: timeText(expiresAt),
  }
}

/** Follows private.mandate_json, without the number that only the ledger knows. */
export function mandateWire(twin: Twin, mandate: Mandate) {
  const { day, total, payments, dayResetsAt } = usageOf(twin, mandate)
  const { requested } = mandate
  return {
    id: mandate.id,
    account: mandate.account.id,
    asked_by: mandate.key.id,
    for_any_key: mandate.isForAnyKey,
    device: mandate.device,
    by_owner: false,
    purpose: null,
    state: mandate.state,
    status: statusOf(twin, mandate),
    merchant_domain: mandate.domain,
    ...capsWire(mandate),
    chains: mandate.chains,
    tokens: mandate.tokens,
    pay_to: mandate.payTo,
    created_at: timeText(mandate.createdAt),
    requested: requested && capsWire(requested),
    decided_at: timeText(mandate.decidedAt),
    revoked_at: timeText(mandate.revokedAt),
    revoked_by: mandate.revokedBy,
    spent_day_usd_micros: day.toString(),
    spent_total_usd_micros: total.toString(),
    payments,
    day_resets_at: timeText(dayResetsAt),
  }
}

/** Returns a mandate in the form that shared/consent/terms.ts takes. */
export function mandateFacts(mandate: Mandate) {
  const { caps, chains, tokens, payTo } = mandate
  return {
    id: mandate.id,
    account: mandate.account.id,
    asked_by: mandate.key.id,
    for_any_key: mandate.isForAnyKey,
    device: mandate.device,
    merchant_domain: mandate.domain,
    include_subdomains: mandate.subdomains,
    max_payment_usd_micros: caps.payment,
    max_day_usd_micros: caps.day,
    max_total_usd_micros: caps.total,
    max_payments: caps.payments,
    chains,
    tokens,
    pay_to: payTo,
    expires_at: timeText(mandate.expiresAt) ?? '',
  }
}

export function approvalWire({ approval }: Payment) {
  if (!approval) return null
  const { decision, digest, consent } = approval
  return { decision, digest, level: consent ? levelOf(consent) : 'user_session' }
}

const levelOf = ({ signed }: Consent) => (signed ? 'user_passkey' : 'user_session')

/** Follows private.consent_behind. */
export function consentBehind({ level, approval, mandate }: Payment) {
  if (level === 'mandate') return consentWire(mandate?.consent)
  const isOwners = level === 'user_session' || level === 'user_passkey'
  return isOwners ? consentWire(approval?.consent) : null
}

/** Follows private.consent_json. */
export function consentWire(consent: Consent | null | undefined) {
  if (!consent) return null
  const { digest, leaves, at, askedAt, signed } = consent
  return {
    level: levelOf(consent),
    digest,
    leaves,
    passkey: signed && {
      id: signed.assertion.passkey,
      added_at: timeText(signed.addedAt),
      there_since: timeText(signed.addedAt),
      public_key: signed.publicKey,
      client_data: signed.assertion.client_data,
      authenticator_data: signed.assertion.authenticator_data,
      signature: signed.assertion.signature,
    },
    asked_at: timeText(askedAt),
    decided_at: timeText(at),
  }
}

/** Follows private.resource_history: earlier payments for the same resource, in no order. */
export function historyOf(twin: Twin, payment: Payment) {
  const settled = paidBefore(twin, payment)
  const usd = settled.map((one) => one.usd).toSorted((a, b) => (a < b ? -1 : 1))
  return {
    payees: [...new Set(settled.map(({ payee }) => payee))].toSorted(),
    assets: [...new Set(settled.map(({ token }) => token))]
      .toSorted()
      .map((token) => ({ chain: twin.chain, token })),
    highest_usd_micros: usd.at(-1)?.toString() ?? null,
  }
}

const refusedSeconds = 900

/** Follows private.refused_ways; all payments of the model are of one kind. */
export function refusedOf(twin: Twin, { account, resource }: Payment) {
  const refused = twin.payments.filter(
    (one) =>
      one.account === account &&
      resource !== null &&
      one.resource === resource &&
      one.state !== 'settled' &&
      one.delivery === refusal &&
      (one.authorizedAt ?? 0) > twin.now - refusedSeconds,
  )
  // Keys are in the order of jsonb, so that both sides sort alike.
  const ways = refused.map(({ token, payee, atomic }) =>
    JSON.stringify({
      chain: twin.chain,
      payee,
      token,
      scheme: null,
      protocol: null,
      payment_flow: null,
      amount_atomic: atomic.toString(),
      transfer_method: null,
    }),
  )
  return [...new Set(ways)].toSorted().map((text): unknown => JSON.parse(text))
}

/** A merchant's answer that refuses the payment. */
export const refusal = { status: 402, reasons: [{ code: 'payment_refused' }] }
