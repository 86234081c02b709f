/**
 * Selects the offers that can be paid: by an EIP-3009 authorization or a Permit2 permit, on a connected
 * network, with a token of the registry and under the registry's EIP-712 domain. An offer that cannot be
 * paid is returned with its reason and never replaced by another.
 */
import * as z from 'zod'
import { lossReasonOf, readAddress } from '../chains/evm/address.ts'
import { type Address, type Chain, type Token, tokenByAddress } from '../chains/registry.ts'
import { usdMicrosEnd } from '../money/usd.ts'
import { shortVisible, termsShown, trimEndOf } from '../text/untrusted.ts'
import {
  type Challenge,
  type ChallengeRefusal,
  type FrozenRequest,
  readChallenge,
  readChallengeHeader,
} from './challenge.ts'
import { type AuthChallenge, namesRoute, readAuthChallenges, readMppChallenge } from './mpp.ts'
import {
  methodOf,
  type Offer,
  type TransferMethod,
  timeoutSecondsMin,
  type UnpayableOffer,
} from './offer.ts'

/** An offer with the chain and token of the registry and a checked payee. */
export type PayableOffer = {
  offer: Offer
  method: TransferMethod
  chain: Chain
  token: Token
  payTo: Address
  usdMicros: bigint
}
type Pricing = (token: Token, amountAtomic: bigint) => bigint | undefined

/**
 * Sorts the offers into payable and unpayable. Payable ones are in order of preference, then of price. At
 * the same price, upfront ones are last, x402 comes before MPP, and the merchant's order remains.
 */
export function sortOffers(
  terms: Pick<OfferedTerms, 'offers'> & Partial<OfferedTerms>,
  chains: readonly Chain[],
  usdMicrosOf: Pricing,
): { payable: PayableOffer[]; unpayable: UnpayableOffer[] } {
  const payable: PayableOffer[] = []
  const unpayable: UnpayableOffer[] = [...(terms.others ?? [])]
  for (const offer of terms.offers) {
    const read = readPayable(offer, chains, usdMicrosOf)
    if (typeof read === 'string') unpayable.push(unpayableOf(offer, read))
    else payable.push(read)
  }
  payable.sort(
    (a, b) =>
      rankOf(a.offer) - rankOf(b.offer) ||
      compare(a.usdMicros, b.usdMicros) ||
      Number(isUpfront(a.offer.extra)) - Number(isUpfront(b.offer.extra)),
  )
  return { payable, unpayable }
}

/**
 * Returns the preference, which counts before the price. x402 that may have to be bound to a route comes
 * after MPP, because its server may refuse our payment; only the MPP nonce is bound. Permit2 permits are
 * last, because a freeze cannot cancel them.
 */
function rankOf(offer: Offer): number {
  if (methodOf(offer) === 'permit2') return 2
  return offer.protocol === 'x402' && namesRoute(offer.extensions) ? 1 : 0
}

/** Returns true if it is settled before the merchant has an answer; at equal price others come first. */
export function isUpfront(extra: unknown): boolean {
  return z.looseObject({ paymentFlow: z.literal('upfront') }).safeParse(extra).success
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns an offer in the form that shows the reason why it is not paid. */
export function unpayableOf(offer: Offer, reason: string): UnpayableOffer {
  const { protocol, scheme, network, asset, payTo, extra } = offer
  return {
    protocol,
    amount: offer.amountAtomic.toString(),
    reason,
    untrusted: [...termsShown({ scheme, network, asset, pay_to: payTo }), ...termsShown(extra)],
  }
}

function readPayable(
  offer: Offer,
  chains: readonly Chain[],
  usdMicrosOf: Pricing,
): PayableOffer | string {
  const problem = methodProblem(offer)
  if (problem !== undefined) return problem
  const chain = chains.find(({ caip2 }) => caip2 === offer.chain)
  if (!chain) return 'The service is not connected to this network.'
  const token = tokenByAddress(chain, offer.asset)
  if (!token) return `The asset is no token that the service pays with on ${chain.title}.`
  const lie = domainProblem(offer, token)
  if (lie !== undefined) return lie
  const payTo = readAddress(offer.payTo)
  if ('refused' in payTo) return 'payTo is not a valid address.'
  if (lossReasonOf(payTo.address, chain)) return 'Money sent to payTo would be lost.'
  if (offer.amountAtomic === 0n) return 'The amount is zero.'
  const usdMicros = usdMicrosOf(token, offer.amountAtomic)
  if (usdMicros === undefined) return `${token.symbol} has no USD rate configured.`
  if (usdMicros >= usdMicrosEnd) return 'The amount is beyond every limit.'
  return { offer, method: methodOf(offer), chain, token, payTo: payTo.address, usdMicros }
}

/** Checks the scheme, and fields of `extra` that change what is signed or when it is settled. */
function methodProblem(offer: Offer): string | undefined {
  const { protocol, scheme, extra, maxTimeoutSeconds } = offer
  const { primaryType = 'TransferWithAuthorization' } = extra
  if (protocol === 'x402' && scheme !== 'exact' && scheme !== 'upto') {
    return 'Of schemes only exact and upto are supported.'
  }
  const method = extra['assetTransferMethod'] ?? methodOf(offer)
  if (method !== methodOf(offer)) return 'The transfer method is not supported.'
  // Servers of thirdweb may ask for an EIP-2612 permit to the payee instead.
  if (primaryType !== 'TransferWithAuthorization' && method === 'eip3009') {
    return 'Signatures of this primary type are not supported.'
  }
  const permit = methodOf(offer) === 'permit2' ? permitProblem(offer) : undefined
  if (permit !== undefined) return permit
  const flow = extra['paymentFlow'] ?? 'authorization'
  if (flow !== 'authorization' && flow !== 'upfront') return 'The payment flow is not supported.'
  if (maxTimeoutSeconds < timeoutSecondsMin) {
    return `The offer is valid for less than ${timeoutSecondsMin} seconds.`
  }
  return undefined
}

/** Checks what the Permit2 proxies need, which exist only since version 2. */
function permitProblem({ version, scheme, extra }: Offer): string | undefined {
  if (version !== 2) return 'Permit2 is not part of x402 version 1.'
  if (scheme === 'exact') return undefined
  const { facilitatorAddress: text } = extra
  const isAddress = typeof text === 'string' && !('refused' in readAddress(text))
  return isAddress ? undefined : 'extra.facilitatorAddress is not a valid address.'
}

/** Checks the merchant's token details. If they differ from ours, the signature would be useless. */
function domainProblem({ extra }: Offer, token: Token): string | undefined {
  const { name = token.domain.name, version = token.domain.version } = extra
  if (name !== token.domain.name || version !== token.domain.version) {
    return 'The offered EIP-712 domain is not that of the token.'
  }
  const decimals = extra['decimals'] ?? token.decimals
  return decimals === token.decimals
    ? undefined
    : `The token has ${token.decimals} decimals, not as many as the offer says.`
}

/** Returns the challenges of other payment schemes in one answer. */
export function readUnsupportedSchemes(
  challenges: readonly AuthChallenge[],
  headers: Pick<Headers, 'get'>,
): UnpayableOffer[] {
  const lightning = challenges
    .filter(({ scheme }) => scheme === 'l402' || scheme === 'lsat')
    .map(({ scheme, params }) => readL402(scheme, params['invoice'] ?? ''))
  const price = headers.get('crawler-price') ?? headers.get('crawler-exact-price')
  return price === null ? lightning : [...lightning, readCrawlerPrice(price)]
}

/** Reads L402: pay the invoice and show its preimage. https://github.com/lightninglabs/L402 */
function readL402(protocol: string, invoice: string): UnpayableOffer {
  return {
    protocol,
    reason: 'Lightning invoices are not paid.',
    untrusted: termsShown({ amount_btc: bitcoinOf(invoice) ?? 'any', invoice }),
  }
}

/** BOLT 11: ln, the network, an amount with a multiplier, and 1 before the data. */
const invoicePattern = /^ln(?:bcrt|bc|tbs|tb)([1-9][0-9]{0,11})([munp]?)1/i
const decimals: Readonly<Record<string, number>> = { m: 3, u: 6, n: 9, p: 12 }

/** Returns the amount of an invoice in bitcoin, by shifting decimal digits. */
function bitcoinOf(invoice: string): string | undefined {
  const [, digits, multiplier = ''] = invoicePattern.exec(invoice) ?? []
  if (digits === undefined) return undefined
  const places = decimals[multiplier.toLowerCase()] ?? 0
  if (places === 0) return digits
  const padded = digits.padStart(places + 1, '0')
  const fraction = trimEndOf(padded.slice(-places), '0')
  return `${padded.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Reads a price of https://developers.cloudflare.com/ai-crawl-control/features/pay-per-crawl/ */
function readCrawlerPrice(price: string): UnpayableOffer {
  return {
    protocol: 'pay-per-crawl',
    reason: 'Pay-per-crawl is charged to a crawler that its operator has registered.',
    untrusted: termsShown({ price }),
  }
}

/** Offers that can be judged, and others that can only be shown. */
export type OfferedTerms = Challenge & { others: UnpayableOffer[] }

/** An answer of status 402, with its body parsed as JSON. */
export type PaymentRequiredResponse = { headers: Pick<Headers, 'get'>; body: unknown }

/** Reads all terms. Invalid x402 is ignored only if there is another way to pay. */
export function readOfferedTerms(
  { headers, body }: PaymentRequiredResponse,
  request: FrozenRequest,
  now: Date,
): OfferedTerms | ChallengeRefusal {
  const challenges = readAuthChallenges(headers.get('www-authenticate') ?? '')
  const { offers, others } = readMpp(challenges, request, now)
  others.push(...readUnsupportedSchemes(challenges, headers))
  const x402 = readX402(headers.get('payment-required')?.trim() ?? '', body)
  if (!('refusal' in x402)) return { ...x402, offers: [...x402.offers, ...offers], others }
  if (offers.length + others.length === 0) return x402
  const error = problemOf(body)
  return { offers, others, ...(error === undefined ? {} : { error }) }
}

/**
 * Reads x402 from the header, or from the body if the header is missing, empty (as some servers of version 1
 * send it) or cannot be read. If neither can, what is wrong with the header is told.
 */
function readX402(header: string, body: unknown): Challenge | ChallengeRefusal {
  if (header === '') return readChallenge(body)
  const fromHeader = readChallengeHeader(header)
  if (!('refusal' in fromHeader)) return fromHeader
  const fromBody = readChallenge(body)
  return 'refusal' in fromBody ? fromHeader : fromBody
}

/**
 * True if an answer that asks for a payment anew may come after settling was tried: mppx gives one problem
 * for a payment that failed verification and for one that failed to settle.
 */
export function mayFollowSettling(body: unknown): boolean {
  const problem = z.looseObject({ type: z.string() }).safeParse(body)
  return problem.success && problem.data.type.endsWith('/problems/verification-failed')
}

/** True if the headers ask for a payment, in a protocol that is paid here. */
export function asksForPayment(headers: Pick<Headers, 'get'>): boolean {
  const isX402 = (headers.get('payment-required')?.trim() ?? '') !== ''
  const challenges = readAuthChallenges(headers.get('www-authenticate') ?? '')
  return isX402 || challenges.some(({ scheme }) => scheme === 'payment')
}

function readMpp(challenges: readonly AuthChallenge[], request: FrozenRequest, now: Date) {
  const read = challenges
    .filter(({ scheme }) => scheme === 'payment')
    .map(({ params }) => readMppChallenge(params, request, now))
  return {
    offers: read.filter((one) => 'requirement' in one),
    others: read.filter((one) => 'reason' in one),
  }
}

const words = z.string().min(1).optional().catch(undefined)
const problemFields = z.looseObject({ detail: words, title: words, error: words })

/** Returns what a body says is wrong: the detail or title of an RFC 9457 problem, or the field `error`. */
export function problemOf(body: unknown): string | undefined {
  const problem = problemFields.safeParse(body)
  const text = problem.data?.detail ?? problem.data?.title ?? problem.data?.error
  return text === undefined ? undefined : shortVisible(text)
}
