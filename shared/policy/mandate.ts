/**
 * Whether a mandate of the owner carries a payment, and which rules say that it does not. Pure: the
 * same mandate, payment and time give the same answer. Each failing rule gives one reason. It counts
 * nothing itself: custody checks the caps again under the account's lock.
 */
import type { History, MemoryReasonCode } from './memory.ts'
import { memoryReasons } from './memory.ts'
import { hostMatches } from './merchant-host.ts'

/** What the owner approves: a list or a cap that is null does not limit. Amounts in micro-USD. */
export type MandateTerms = {
  /** Canonical, as shared/mandates/merchant-domain.ts makes it. */
  merchantDomain: string
  includeSubdomains: boolean
  maxPaymentUsdMicros: bigint
  /** Over the rolling 24 hours. */
  maxDayUsdMicros: bigint | null
  maxTotalUsdMicros: bigint | null
  maxPayments: number | null
  chains: readonly number[] | null
  /** Addresses with the checksum of EIP-55, as are the payees. */
  tokens: readonly string[] | null
  payTo: readonly string[] | null
  /** It covers nothing at that time or later. */
  expiresAt: Date
}

/** What is stored; that a mandate is expired or exhausted follows from its terms and its use. */
export type MandateState = 'pending_approval' | 'active' | 'suspended' | 'declined' | 'revoked'

/** Who pays under a mandate, against who asked for it and from which device. */
export const payersUnder = ['asker', 'other_device', 'other_key'] as const

/** A mandate and what of it is used, reserved amounts included. */
export type Mandate = MandateTerms & {
  id: string
  state: MandateState
  /** `other_key` may not; one on another device than asked may where the owner knows the device. */
  payer: (typeof payersUnder)[number]
  spentDayUsdMicros: bigint
  spentTotalUsdMicros: bigint
  payments: number
  /** When the oldest payment leaves the 24 hours. */
  dayResetsAt: Date | null
}

/** The facts of a payment that the rules look at. */
export type CoverRequest = {
  kind: 'transfer' | 'x402'
  amountUsdMicros: bigint
  /** Of the origin that is paid, with a port only on loopback; null for a transfer. */
  host: string | null
  chain: number
  token: string
  payTo: string
  /** The service itself heard the challenge from that origin. */
  heard: boolean
  /** The challenge names a resource on another host than the one that is paid. */
  otherResource: boolean
  deviceKnown: boolean
  /** A recipient that the owner knows and that looks like this one: the mark of address poisoning. */
  similarRecipient: string | null
  /** Of the resource that is paid. */
  history: History
}

/** A rule that fails. Each surface has its sentence for each. */
export type MandateReasonCode =
  | `mandate_${Exclude<MandateState, 'active'>}`
  | 'mandate_expired'
  | 'other_merchant'
  | 'payee_not_pinned'
  | 'other_payee'
  | 'other_chain'
  | 'other_token'
  | 'mandate_payment_limit'
  | 'mandate_day_limit'
  | 'mandate_total_limit'
  | 'mandate_count_limit'
  | 'other_key'
  | 'new_device'
  | 'similar_recipient'
  | 'challenge_not_heard'
  | 'other_resource'
  | MemoryReasonCode

/** A failing rule with what is left of the limit that it names, and when there is more. */
export type MandateReason = {
  code: MandateReasonCode
  headroomUsdMicros?: bigint
  resetsAt?: string | null
}

/** Covered, or every rule that says no. */
export type Cover = { covers: true } | { covers: false; reasons: MandateReason[] }

/** A mandate that has to do with a payment and does not cover it. */
export type Uncovered = { mandateId: string; reasons: MandateReason[] }

/** Asks every rule, so that an agent hears at once all that stands against a payment. */
export function coverOf(mandate: Mandate, request: CoverRequest, now: Date): Cover {
  const isPinned = pins(mandate, request)
  const { state } = mandate
  const reasons = [
    ...(state === 'active' ? [] : [{ code: `mandate_${state}` as const }]),
    ...termsReasons(mandate, request, now),
    ...capReasons(mandate, request.amountUsdMicros),
    ...payerReasons(mandate, request),
    ...trustReasons(request, isPinned),
    ...memoryReasons(request.history, request, isPinned).map((code) => ({ code })),
  ]
  return reasons.length === 0 ? { covers: true } : { covers: false, reasons }
}

/**
 * The rules that need nothing but the terms that the owner approved and the payment itself, which is
 * how custody asks them again before it signs.
 */
export function termsReasons(
  terms: MandateTerms,
  request: Pick<CoverRequest, 'kind' | 'amountUsdMicros' | 'host' | 'chain' | 'token' | 'payTo'>,
  now: Date,
): MandateReason[] {
  const { merchantDomain, includeSubdomains, chains, tokens, payTo } = terms
  const reasons: MandateReason[] = []
  if (terms.expiresAt <= now) reasons.push({ code: 'mandate_expired' })
  if (request.kind === 'x402') {
    const isMerchant = hostMatches(merchantDomain, includeSubdomains, request.host)
    if (!isMerchant) reasons.push({ code: 'other_merchant' })
  } else if (payTo === null) {
    // Nothing shows that an address is the merchant's, so only the owner can have said so.
    reasons.push({ code: 'payee_not_pinned' })
  }
  if (payTo && !payTo.includes(request.payTo)) reasons.push({ code: 'other_payee' })
  if (chains && !chains.includes(request.chain)) reasons.push({ code: 'other_chain' })
  if (tokens && !tokens.includes(request.token)) reasons.push({ code: 'other_token' })
  if (request.amountUsdMicros > terms.maxPaymentUsdMicros) {
    reasons.push({ code: 'mandate_payment_limit', headroomUsdMicros: terms.maxPaymentUsdMicros })
  }
  return reasons
}

function capReasons(mandate: Mandate, amountUsdMicros: bigint): MandateReason[] {
  const { maxPayments, payments, dayResetsAt } = mandate
  const reasons: MandateReason[] = []
  const { day, total } = leftOf(mandate)
  if (day !== null && amountUsdMicros > day) {
    const resetsAt = dayResetsAt?.toISOString() ?? null
    reasons.push({ code: 'mandate_day_limit', headroomUsdMicros: day, resetsAt })
  }
  if (total !== null && amountUsdMicros > total) {
    reasons.push({ code: 'mandate_total_limit', headroomUsdMicros: total })
  }
  if (maxPayments !== null && payments >= maxPayments) reasons.push({ code: 'mandate_count_limit' })
  return reasons
}

/** What is left of the caps in micro-USD, never below zero; null where there is no cap. */
export function leftOf(mandate: Omit<Mandate, 'payer'>): {
  day: bigint | null
  total: bigint | null
} {
  const { maxDayUsdMicros, maxTotalUsdMicros, spentDayUsdMicros, spentTotalUsdMicros } = mandate
  const left = (cap: bigint, spent: bigint) => (spent < cap ? cap - spent : 0n)
  return {
    day: maxDayUsdMicros === null ? null : left(maxDayUsdMicros, spentDayUsdMicros),
    total: maxTotalUsdMicros === null ? null : left(maxTotalUsdMicros, spentTotalUsdMicros),
  }
}

/** The owner let this key or app pay from this device, and nobody else. */
function payerReasons({ payer }: Mandate, { deviceKnown }: CoverRequest): MandateReason[] {
  if (payer === 'other_key') return [{ code: 'other_key' }]
  return payer === 'other_device' && !deviceKnown ? [{ code: 'new_device' }] : []
}

/** A payee whom the owner named needs no merchant's word for it. */
function trustReasons(request: CoverRequest, isPinned: boolean): MandateReason[] {
  const { kind, heard, otherResource, similarRecipient } = request
  const reasons: MandateReason[] = []
  if (similarRecipient !== null && !isPinned) reasons.push({ code: 'similar_recipient' })
  if (kind === 'x402' && !heard && !isPinned) reasons.push({ code: 'challenge_not_heard' })
  if (kind === 'x402' && otherResource) reasons.push({ code: 'other_resource' })
  return reasons
}

function pins({ payTo }: MandateTerms, request: Pick<CoverRequest, 'payTo'>): boolean {
  return payTo?.includes(request.payTo) ?? false
}

/** Whether the mandate was given for this merchant or names this payee; not whether it covers. */
export function concerns(
  terms: MandateTerms,
  request: Pick<CoverRequest, 'host' | 'payTo'>,
): boolean {
  const { merchantDomain, includeSubdomains } = terms
  return hostMatches(merchantDomain, includeSubdomains, request.host) || pins(terms, request)
}

/** The narrowest of those that cover, so that the wider ones last; undefined when none does. */
export function bestCover(
  mandates: readonly Mandate[],
  request: CoverRequest,
  now: Date,
): Mandate | undefined {
  let best: Mandate | undefined
  for (const mandate of mandates) {
    // Most are for other merchants, and asking that alone is quick.
    if (!concerns(mandate, request) || !coverOf(mandate, request, now).covers) continue
    if (!best || narrower(mandate, best, request) < 0) best = mandate
  }
  return best
}

/** Exact host before subdomain, named payee before any, soonest expiry, then the id. */
function narrower(a: Mandate, b: Mandate, { host }: CoverRequest): number {
  const isExact = ({ merchantDomain }: Mandate) => hostMatches(merchantDomain, false, host)
  const isPinned = ({ payTo }: Mandate) => payTo !== null
  return (
    Number(isExact(b)) - Number(isExact(a)) ||
    Number(isPinned(b)) - Number(isPinned(a)) ||
    a.expiresAt.getTime() - b.expiresAt.getTime() ||
    (a.id < b.id ? -1 : 1)
  )
}

/** Nobody reads more of them, and an account may have many. */
const toldMax = 5

/** The mandates of this merchant or payee that do not cover, those that lack the least first. */
export function uncoveredBy(
  mandates: readonly Mandate[],
  request: CoverRequest,
  now: Date,
): Uncovered[] {
  return mandates
    .filter((mandate) => concerns(mandate, request))
    .flatMap((mandate) => {
      const cover = coverOf(mandate, request, now)
      return cover.covers ? [] : [{ mandateId: mandate.id, reasons: cover.reasons }]
    })
    .toSorted((a, b) => a.reasons.length - b.reasons.length || (a.mandateId < b.mandateId ? -1 : 1))
    .slice(0, toldMax)
}
