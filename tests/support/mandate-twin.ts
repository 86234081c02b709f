/**
 * A slow and obvious implementation of the mandate rules. It keeps every payment that the mandate carried
 * and adds them up each time. Sets are lists of words, and hosts are compared label by label from the
 * right.
 */
import type { CoverRequest, Mandate, MandateTerms } from '../../shared/policy/mandate.ts'
import type { History } from '../../shared/policy/memory.ts'

/** One payment that the mandate carries; released payments are left out. */
export type Carried = { at: number; usd: bigint }
/** An earlier purchase of a resource. */
export type Bought = { payTo: string; chain: number; token: string; usd: bigint }

const day = 86_400_000
const wordy = (chain: number, token: string) => `${token} on ${chain}`

/** Returns the mandate as SQL would return it at this time. */
export function usedBy(
  terms: MandateTerms,
  carried: readonly Carried[],
  now: Date,
): Omit<Mandate, 'id' | 'state' | 'payer'> {
  const recent = carried.filter(({ at }) => at > now.getTime() - day)
  const first = recent.map(({ at }) => at).toSorted((a, b) => a - b)[0]
  return {
    ...terms,
    spentDayUsdMicros: added(recent),
    spentTotalUsdMicros: added(carried),
    payments: carried.length,
    dayResetsAt: first === undefined ? null : new Date(first + day),
  }
}

const added = (some: readonly Carried[]) => some.reduce((sum, { usd }) => sum + usd, 0n)

/** Converts the purchases to the history that the product reads. */
export function historyFrom(bought: readonly Bought[]): History {
  const prices = bought.map(({ usd }) => usd).toSorted((a, b) => Number(a - b))
  return {
    payees: [...new Set(bought.map(({ payTo }) => payTo))],
    assets: bought.map(({ chain, token }) => ({ chain, token })),
    highestUsdMicros: prices.at(-1) ?? null,
  }
}

/** Decides whether the host belongs to the domain. */
export function hostTwin(domain: string, isWide: boolean, host: string | null): boolean {
  if (host === null) return false
  const [name = '', ...ports] = host.split(':')
  for (const local of ['localhost', '127.0.0.1']) {
    const isPort = ports.length === 1 && /^[1-9]\d{0,4}$/.test(ports[0] ?? '')
    if (domain === local) return name === local && (ports.length === 0 || isPort)
    if (domain.startsWith(`${local}:`)) return isPort && host === domain
  }
  const wanted = domain.split('.').toReversed()
  const given = host.split('.').toReversed()
  const isSound = (labels: string[]) =>
    labels.length >= 2 &&
    labels.join('.').length <= 253 &&
    labels.every((label) => /^[a-z0-9-]{1,63}$/.test(label) && !/^-|-$/.test(label)) &&
    /^[a-z]./.test(labels[0] ?? '')
  if (!isSound(wanted) || !isSound(given)) return false
  const isLong = isWide ? given.length >= wanted.length : given.length === wanted.length
  return isLong && wanted.every((label, at) => given[at] === label)
}

/** Returns the findings of the purchase history, comparing with each earlier purchase in turn. */
export function memoryTwin(bought: readonly Bought[], paid: Bought): string[] {
  if (bought.length === 0) return []
  const isFar = (compare: (price: bigint) => boolean) => bought.every(({ usd }) => compare(usd))
  const words = bought.map(({ chain, token }) => wordy(chain, token))
  return [
    bought.some(({ payTo }) => payTo === paid.payTo) ? '' : 'changed_payee',
    words.includes(wordy(paid.chain, paid.token)) ? '' : 'changed_asset',
    isFar((usd) => paid.usd - usd > usd) ? 'unusual_price' : '',
  ].filter((code) => code !== '')
}

/** A story that both the product and the twin evaluate. */
export type Told = {
  state: Mandate['state']
  payer: Mandate['payer']
  terms: MandateTerms
  carried: readonly Carried[]
  bought: readonly Bought[]
  request: Omit<CoverRequest, 'history'>
  now: Date
}

/** Returns the failing rules by name, in no order; an empty list means that the payment is covered. */
export function coverTwin({ state, payer, terms, carried, bought, request, now }: Told): string[] {
  const { kind, payTo, chain, token, amountUsdMicros: usd } = request
  const failing: string[] = []
  const must = (code: string, isMet: boolean) => {
    if (!isMet) failing.push(code)
  }
  const isNamed = terms.payTo?.some((one) => one === payTo) === true
  const isX402 = kind === 'x402'
  must(`mandate_${state}`, state === 'active')
  must('mandate_expired', now.getTime() < terms.expiresAt.getTime())
  must('payee_not_pinned', isX402 || terms.payTo !== null)
  must(
    'other_merchant',
    !isX402 || hostTwin(terms.merchantDomain, terms.includeSubdomains, request.host),
  )
  must('other_payee', terms.payTo === null || isNamed)
  must('other_chain', !terms.chains || terms.chains.some((one) => one === chain))
  must('other_token', !terms.tokens || terms.tokens.some((one) => one === token))
  must('mandate_payment_limit', usd <= terms.maxPaymentUsdMicros)
  const withThis = [...carried, { at: now.getTime(), usd }]
  const sumSince = (time: number) => added(withThis.filter(({ at }) => at > time))
  const { maxDayUsdMicros, maxTotalUsdMicros, maxPayments } = terms
  const isWithin = (cap: bigint | null, since: number) => cap === null || sumSince(since) <= cap
  must('mandate_day_limit', isWithin(maxDayUsdMicros, now.getTime() - day))
  must('mandate_total_limit', isWithin(maxTotalUsdMicros, Number.NEGATIVE_INFINITY))
  must('mandate_count_limit', maxPayments === null || withThis.length <= maxPayments)
  must('other_key', payer !== 'other_key')
  must('new_device', payer !== 'other_device' || request.deviceKnown)
  must('similar_recipient', request.similarRecipient === null || isNamed)
  must('challenge_not_heard', !isX402 || request.verifiedWithMerchant || isNamed)
  must('other_resource', !isX402 || !request.otherResource)
  const changes = memoryTwin(bought, { payTo, chain, token, usd })
  must('changed_payee', isNamed || !changes.includes('changed_payee'))
  must('changed_asset', !changes.includes('changed_asset'))
  return failing
}
