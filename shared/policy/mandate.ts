/**
 * Decides whether a mandate of the owner covers a payment, and which rules fail. Pure: the same mandate,
 * payment and time give the same answer. Each failing rule gives one reason. It books nothing: custody
 * checks the caps again under the account's lock.
 */
import { type ChangeReasonCode, changeReasons, type PaidPlaces } from './memory.ts'

/** Terms that the owner approves; a null list or cap sets no limit. Amounts in micro-USD. */
export type MandateTerms = {
  /** In the canonical form of shared/mandates/host-name.ts. */
  merchantDomain: string
  includeSubdomains: boolean
  maxPaymentUsdMicros: bigint
  /** Cap over the rolling 24 hours. */
  maxDayUsdMicros: bigint | null
  maxTotalUsdMicros: bigint | null
  maxPayments: number | null
  chains: readonly number[] | null
  /** Addresses with the checksum of EIP-55, like those of `payTo`. */
  tokens: readonly string[] | null
  payTo: readonly string[] | null
  /** The mandate covers nothing at this time or later. */
  expiresAt: Date
}

/** Stored state; expired and exhausted follow from the terms and the use. */
export type MandateState = 'pending_approval' | 'active' | 'suspended' | 'declined' | 'revoked'

/** The payer under a mandate, compared with the key and device that asked for it. */
export const payersUnder = ['asker', 'other_device', 'other_key'] as const

/** A mandate and its used amounts, including reservations. */
export type Mandate = MandateTerms & {
  id: string
  state: MandateState
  /** `other_key` may not pay; `other_device` may pay if the owner knows the device. */
  payer: (typeof payersUnder)[number]
  spentDayUsdMicros: bigint
  spentTotalUsdMicros: bigint
  payments: number
  /** Time when the oldest payment leaves the 24 hours. */
  dayResetsAt: Date | null
}

/** Facts of a payment that the rules use. */
export type CoverRequest = {
  kind: 'transfer' | 'x402'
  amountUsdMicros: bigint
  /** Host of the paid origin, with a port only on loopback; null for a transfer. */
  host: string | null
  chain: number
  token: string
  payTo: string
  /** True if the service itself got the challenge from that origin. */
  verifiedWithMerchant: boolean
  /** True if the challenge names a resource on another host than the paid one. */
  otherResource: boolean
  deviceKnown: boolean
  /** A known recipient that looks like this one: the sign of address poisoning. */
  similarRecipient: string | null
  /** History of the paid resource. What it cost is not part: that is for the caps, which the owner set. */
  history: PaidPlaces
}

/** A rule that fails. Each surface has a sentence for each. */
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
  | ChangeReasonCode

/** A failing rule with the remainder of its limit, and the time when it grows again. */
export type MandateReason = {
  code: MandateReasonCode
  headroomUsdMicros?: bigint
  resetsAt?: string | null
}

/** The mandate covers the payment, or every rule that fails. */
export type Cover = { covers: true } | { covers: false; reasons: MandateReason[] }

/** A mandate that concerns a payment but does not cover it. */
export type Uncovered = { mandateId: string; reasons: MandateReason[] }

/** Checks every rule, so that an agent learns all objections to a payment at once. */
export function coverOf(mandate: Mandate, request: CoverRequest, now: Date): Cover {
  const isPinned = pinsPayee(mandate, request)
  const { state } = mandate
  const reasons = [
    ...(state === 'active' ? [] : [{ code: `mandate_${state}` as const }]),
    ...termsReasons(mandate, request, now),
    ...capReasons(mandate, request.amountUsdMicros),
    ...payerReasons(mandate, request),
    ...trustReasons(request, isPinned),
    ...changeReasons(request.history, request)
      .filter((code) => code !== 'changed_payee' || !isPinned)
      .map((code) => ({ code })),
  ]
  return reasons.length === 0 ? { covers: true } : { covers: false, reasons }
}

/**
 * Checks the rules that need only the approved terms and the payment itself; custody checks these again
 * before it signs.
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
    // Nothing proves that an address is the merchant's, so the owner must have named it.
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

/** Returns the remainder of the caps in micro-USD, never below zero; null if there is no cap. */
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

/** Checks the payer: the owner allowed this key or app to pay from this device, and nobody else. */
function payerReasons({ payer }: Mandate, { deviceKnown }: CoverRequest): MandateReason[] {
  if (payer === 'other_key') return [{ code: 'other_key' }]
  return payer === 'other_device' && !deviceKnown ? [{ code: 'new_device' }] : []
}

/** Checks trust in the payee; a payee that the owner named needs no confirmation by the merchant. */
function trustReasons(request: CoverRequest, isPinned: boolean): MandateReason[] {
  const { kind, verifiedWithMerchant, otherResource, similarRecipient } = request
  const reasons: MandateReason[] = []
  if (similarRecipient !== null && !isPinned) reasons.push({ code: 'similar_recipient' })
  if (kind === 'x402' && !verifiedWithMerchant && !isPinned) {
    reasons.push({ code: 'challenge_not_heard' })
  }
  if (kind === 'x402' && otherResource) reasons.push({ code: 'other_resource' })
  return reasons
}

function pinsPayee({ payTo }: MandateTerms, request: Pick<CoverRequest, 'payTo'>): boolean {
  return payTo?.includes(request.payTo) ?? false
}

/** True if the mandate is for this merchant or names this payee; it need not cover the payment. */
export function concerns(
  terms: MandateTerms,
  request: Pick<CoverRequest, 'host' | 'payTo'>,
): boolean {
  const { merchantDomain, includeSubdomains } = terms
  return hostMatches(merchantDomain, includeSubdomains, request.host) || pinsPayee(terms, request)
}

/** Returns the narrowest covering mandate, to save the wider ones; undefined if none covers. */
export function bestCover(
  mandates: readonly Mandate[],
  request: CoverRequest,
  now: Date,
): Mandate | undefined {
  let best: Mandate | undefined
  for (const mandate of mandates) {
    // Most mandates are for other merchants, and this check is cheap.
    if (!concerns(mandate, request) || !coverOf(mandate, request, now).covers) continue
    if (!best || narrower(mandate, best, request) < 0) best = mandate
  }
  return best
}

/** Orders exact host before subdomain, named payees before any payee, earliest expiry, then the id. */
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

/** Maximum number of mandates in an answer; an account may have many. */
const listedMax = 5
const endings = new Set(
  ['declined', 'revoked', 'expired', 'count_limit'].map((end) => `mandate_${end}`),
)

/** Returns the mandates of this merchant or payee that do not cover and are not over, fewest failing rules first. */
export function uncoveredBy(
  mandates: readonly Mandate[],
  request: CoverRequest,
  now: Date,
): Uncovered[] {
  return mandates
    .filter((mandate) => concerns(mandate, request))
    .flatMap((mandate) => {
      const cover = coverOf(mandate, request, now)
      const isOver = !cover.covers && cover.reasons.some(({ code }) => endings.has(code))
      return cover.covers || isOver ? [] : [{ mandateId: mandate.id, reasons: cover.reasons }]
    })
    .toSorted((a, b) => a.reasons.length - b.reasons.length || (a.mandateId < b.mandateId ? -1 : 1))
    .slice(0, listedMax)
}

/** RFC 1123 section 2.1 in lower case, at least two labels, the last not a number (so no IPv4). */
const hostName =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/
/** Address of a merchant in local development; the port may be left out. */
const loopback = /^(localhost|127\.0\.0\.1)(:[1-9][0-9]{0,4})?$/

/**
 * True if `host`, in the form of `new URL(origin).host`, is the merchant's `domain` or, with subdomains,
 * below it. A host has a port only on loopback; a loopback domain without a port covers all ports.
 */
export function hostMatches(
  domain: string,
  includeSubdomains: boolean,
  host: string | null,
): boolean {
  if (host === null) return false
  if (host === domain) return hostName.test(host) || loopback.test(host)
  if (includeSubdomains && host.endsWith(`.${domain}`)) {
    return hostName.test(domain) && hostName.test(host)
  }
  return !domain.includes(':') && loopback.exec(host)?.[1] === domain
}

/** Returns the host of an origin in the form of `hostMatches`; null if the origin cannot be paid. */
export function payableHostOf(origin: unknown): string | null {
  if (typeof origin !== 'string' || !URL.canParse(origin)) return null
  const url = new URL(origin)
  const isPaid = url.protocol === 'https:' || loopback.test(url.host)
  return isPaid && url.origin === origin ? url.host : null
}
