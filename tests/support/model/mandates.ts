/** The twin of mandates: their use, whether one covers a payment, and their changes. */
import { admitConsent, keepConsent } from './consents.ts'
import { firstLeaves, isCounted, isDeviceKnown, lookalikeOf } from './limits.ts'
import type {
  Account,
  Assertion,
  Decision,
  Key,
  Mandate,
  MandateTerms,
  Payment,
  Twin,
} from './state.ts'
import { admit, isInService, Refused, stop } from './state.ts'

const waitingMax = 20
const toldMax = 50

/** Returns the payments that use up a mandate: those that count, and all settled ones. */
export function countedUnder(twin: Twin, mandate: Mandate): Payment[] {
  return twin.payments.filter(
    (payment) =>
      payment.mandate === mandate && (isCounted(twin, payment) || payment.state === 'settled'),
  )
}

const sumOf = (payments: Payment[]) => payments.reduce((sum, { usd }) => sum + usd, 0n)

export function usageOf(twin: Twin, mandate: Mandate) {
  const counted = countedUnder(twin, mandate)
  const today = counted.filter((payment) => isCounted(twin, payment))
  return {
    day: sumOf(today),
    total: sumOf(counted),
    payments: counted.length,
    dayResetsAt: firstLeaves(twin, today),
  }
}

export function statusOf(twin: Twin, mandate: Mandate): string {
  const { state, caps } = mandate
  if (state === 'declined' || state === 'revoked') return state
  if (mandate.expiresAt <= twin.now) return 'expired'
  const { total, payments } = usageOf(twin, mandate)
  const isSpent = caps.total !== null && total >= caps.total
  const isCounted = caps.payments !== null && payments >= caps.payments
  return state === 'active' && (isSpent || isCounted) ? 'exhausted' : state
}

export const hostOf = ({ origin }: Payment) =>
  origin === null ? null : origin.replace(/^https?:\/\//, '')

const pins = ({ payTo }: Mandate, { payee }: Payment) => payTo?.includes(payee) ?? false

/** True if the domain is the loopback host without a port, which matches any port. */
export const isLoopback = (domain: string, host: string | null) =>
  domain === 'localhost' && (host?.startsWith('localhost:') ?? false)

function isMerchant({ domain, subdomains }: Mandate, host: string | null): boolean {
  if (host === null) return false
  if (host === domain) return true
  return isLoopback(domain, host) || (subdomains && host.endsWith(`.${domain}`))
}

/** Decides whether a mandate of the account covers a payment now. */
export function carries(twin: Twin, key: Key, mandate: Mandate, payment: Payment): boolean {
  const { account, kind, usd, heard, token } = payment
  if (mandate.account !== account || statusOf(twin, mandate) !== 'active') return false
  const { day, total } = usageOf(twin, mandate)
  const { caps, chains, tokens, payTo } = mandate
  if (usd > caps.payment) return false
  if (caps.day !== null && day + usd > caps.day) return false
  if (caps.total !== null && total + usd > caps.total) return false
  if (chains !== null && !chains.includes(twin.chain)) return false
  if (tokens !== null && !tokens.includes(token)) return false
  const isPinned = pins(mandate, payment)
  if (payTo !== null && !isPinned) return false
  if (kind === 'transfer' && !isPinned) return false
  if (kind === 'x402' && !isMerchant(mandate, hostOf(payment))) return false
  if (kind === 'x402' && !heard && !isPinned) return false
  const payer = payerUnder(key, mandate, payment)
  if (payer === 'other_key' || (payer === 'other_device' && !isDeviceKnown(payment))) return false
  return isPinned || lookalikeOf(payment) === null
}

/** Returns who pays under a mandate: its requester from the same device, or another device or key. */
export function payerUnder(key: Key, mandate: Mandate, payment: Payment) {
  const isAsker = key === mandate.key
  if (key !== payment.key || (!isAsker && !mandate.isForAnyKey)) return 'other_key'
  return isAsker && mandate.device === payment.device ? 'asker' : 'other_device'
}

export function carrying(twin: Twin, key: Key, payment: Payment): Mandate[] {
  return twin.mandates.filter((mandate) => carries(twin, key, mandate, payment))
}

/** Returns a host, and its name without the port with each domain above it. */
function domainsAbove(host: string): string[] {
  const labels = (host.split(':')[0] ?? '').split('.')
  return [host, ...labels.map((_, at) => labels.slice(at).join('.'))]
}

/** Returns the mandates that name a payment's merchant or payee: active ones first, then newest first. */
export function mandatesFor(twin: Twin, payment: Payment): Mandate[] {
  const host = hostOf(payment)
  const domains = host === null ? [] : domainsAbove(host)
  const named = twin.mandates.filter(
    (mandate) =>
      mandate.account === payment.account &&
      mandate.state !== 'declined' &&
      (domains.includes(mandate.domain) || pins(mandate, payment)),
  )
  const isAlive = ({ state, expiresAt }: Mandate) => state === 'active' && expiresAt > twin.now
  const newest = named.toReversed()
  return [...newest.filter(isAlive), ...newest.filter((one) => !isAlive(one))].slice(0, toldMax)
}

export type Wanted = Omit<MandateTerms, 'expiresAt'> & { device: string; ttl: number }

const told = (account: Account, type: string) =>
  account.feed.push({ type: `mandate_${type}`, payment: null })

/** Requests a mandate from the owner, under the given id. */
export function askMandate(twin: Twin, credential: string, id: string, wanted: Wanted): Mandate {
  const key: Key = admit(twin, credential, 'pay')
  const { account } = key
  const waiting = twin.mandates.filter(
    (one) => one.account === account && statusOf(twin, one) === 'pending_approval',
  )
  if (waiting.length >= waitingMax) throw new Refused('too_many_mandates')
  const { ttl, ...terms } = wanted
  const blank = {
    requested: null,
    isForAnyKey: false,
    consent: null,
    decidedAt: null,
    revokedAt: null,
    revokedBy: null,
  }
  const times = { createdAt: twin.now, expiresAt: twin.now + ttl }
  const state = 'pending_approval' as const
  const mandate: Mandate = { ...blank, ...terms, ...times, state, id, account, key }
  twin.mandates.push(mandate)
  told(account, 'requested')
  return mandate
}

const ownOf = (twin: Twin, account: Account, id: string) =>
  twin.mandates.find((mandate) => mandate.id === id && mandate.account === account)

export function revokeMandate(
  twin: Twin,
  account: Account,
  id: string,
  by: 'agent' | 'owner',
): Mandate | undefined {
  const mandate = ownOf(twin, account, id)
  if (!mandate || mandate.state === 'declined' || mandate.state === 'revoked') return mandate
  Object.assign(mandate, { state: 'revoked', revokedAt: twin.now, revokedBy: by })
  stopUnsigned(twin, mandate)
  told(account, 'revoked')
  return mandate
}

function stopUnsigned({ payments }: Twin, mandate: Mandate): void {
  for (const payment of payments) {
    if (payment.mandate !== mandate || payment.state !== 'authorized') continue
    stop(payment, 'its mandate was stopped before anything was signed')
  }
}

export type MandateWord = {
  id: string
  decision: Decision
  digest: string
  assertion: Assertion | null
  isForAnyKey: boolean
}

/** Applies the owner's decision about a mandate; `shown` is the digest of its terms. */
export function decideMandate(
  twin: Twin,
  account: Account,
  { id, decision, digest, assertion, isForAnyKey }: MandateWord,
  shown: string,
): string {
  const isApproval = decision === 'approved'
  if (isApproval) admitConsent(account, assertion)
  const mandate = ownOf(twin, account, id)
  if (!mandate) return 'not_found'
  if (isApproval && mandate.state === 'active') return 'approved'
  if (mandate.state !== 'pending_approval') return 'closed'
  if (mandate.expiresAt <= twin.now) return 'expired'
  if (!isInService(twin, mandate.key)) return 'closed'
  if (digest !== shown) return 'terms_changed'
  const consent = isApproval
    ? keepConsent(twin, account, { digest, leaves: null, assertion, askedAt: mandate.createdAt })
    : null
  if (consent === undefined) return 'closed'
  const state = isApproval ? 'active' : 'declined'
  Object.assign(mandate, { state, consent, decidedAt: twin.now })
  if (isApproval) mandate.isForAnyKey = isForAnyKey
  told(account, decision)
  return decision
}

/** Narrows a mandate, never widens it: a cap that exists must stay and may only go down. */
export function narrowMandate(
  twin: Twin,
  account: Account,
  id: string,
  wanted: Pick<MandateTerms, 'caps' | 'subdomains' | 'expiresAt'>,
): string {
  const mandate = ownOf(twin, account, id)
  if (!mandate) return 'not_found'
  if (statusOf(twin, mandate) !== 'pending_approval') return 'closed'
  const { caps, subdomains, expiresAt } = mandate
  const names = ['payment', 'day', 'total', 'payments'] as const
  const isSame = names.every((name) => wanted.caps[name] === caps[name])
  if (isSame && wanted.subdomains === subdomains && wanted.expiresAt === expiresAt) return 'same'
  const isWider = names.some((name) => {
    const [before, after] = [caps[name], wanted.caps[name]]
    return before !== null && (after === null || after > before)
  })
  if (isWider || (wanted.subdomains && !subdomains) || wanted.expiresAt > expiresAt) return 'wider'
  const { payment, day, total, payments } = wanted.caps
  const isIdle = payment <= 0n || (payments !== null && payments <= 0)
  const isBelowOne = (day !== null && day < payment) || (total !== null && total < payment)
  if (isIdle || isBelowOne || wanted.expiresAt <= twin.now) return 'out_of_bounds'
  mandate.requested ??= { ...mandate }
  Object.assign(mandate, wanted)
  told(account, 'narrowed')
  return 'narrowed'
}

/** Suspends or resumes a mandate. */
export function suspendMandate(
  twin: Twin,
  account: Account,
  id: string,
  isStopped: boolean,
): string {
  if (!isStopped && account.isFrozen) throw new Refused('account_frozen')
  const wanted = isStopped ? 'suspended' : 'active'
  const mandate = ownOf(twin, account, id)
  if (!mandate) return 'not_found'
  if (mandate.state !== 'active' && mandate.state !== 'suspended') return 'closed'
  if (mandate.state !== wanted) told(account, isStopped ? 'suspended' : 'resumed')
  if (mandate.state !== wanted && isStopped) stopUnsigned(twin, mandate)
  mandate.state = wanted
  return wanted
}
