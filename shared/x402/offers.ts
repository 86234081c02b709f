/**
 * Selects the offers that can be paid: by an EIP-3009 authorization or a Permit2 permit, on a connected
 * network, with a token of the registry and under the registry's EIP-712 domain. An offer that cannot be
 * paid is returned with its reason and never replaced by another.
 */
import * as z from 'zod'
import { lossReasonOf, readAddress } from '../chains/evm/address.ts'
import type { Address, Chain, Token } from '../chains/registry.ts'
import { tokenByAddress } from '../chains/registry.ts'
import { termsShown } from '../mail/untrusted.ts'
import { usdMicrosEnd } from '../money/usd.ts'
import type { OfferedTerms } from './demand.ts'
import { namesRoute } from './mpp.ts'
import type { Offer, TransferMethod, UnpayableOffer } from './offer.ts'
import { methodOf, timeoutSecondsMin } from './offer.ts'

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
