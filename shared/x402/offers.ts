/**
 * Chooses what can be paid from what is offered: scheme exact by EIP-3009, on a connected network,
 * with a token of our own table and signed under that table's domain. An offer that cannot be paid
 * is answered with its reason and never stands in for another.
 */
import { isLossyRecipient, readAddress } from '../chains/evm/address.ts'
import type { Address, Chain, Token } from '../chains/registry.ts'
import { tokenByAddress } from '../chains/registry.ts'
import type { Challenge, Offer } from './challenge.ts'

/** An offer with the chain, token and payee of our own tables. */
export type PayableOffer = {
  offer: Offer
  chain: Chain
  token: Token
  payTo: Address
  usdMicros: bigint
}
/** An offer that is not paid, and why. */
export type UnpayableOffer = { scheme: string; network: string; asset: string; reason: string }

/** Below this a signature would expire before a merchant can settle it. */
export const timeoutSecondsMin = 10

type Pricing = (token: Token, amountAtomic: bigint) => bigint | undefined

/** Sorts the offers: payable ones cheapest first (a merchant's order breaks ties), and the rest. */
export function sortOffers(
  challenge: Challenge,
  chains: readonly Chain[],
  usdMicrosOf: Pricing,
): { payable: PayableOffer[]; unpayable: UnpayableOffer[] } {
  const payable: PayableOffer[] = []
  const unpayable: UnpayableOffer[] = []
  for (const offer of challenge.offers) {
    const read = readPayable(offer, chains, usdMicrosOf)
    if (typeof read !== 'string') payable.push(read)
    else {
      const { scheme, network, asset } = offer
      unpayable.push({ scheme, network, asset, reason: read })
    }
  }
  payable.sort((a, b) => (a.usdMicros < b.usdMicros ? -1 : a.usdMicros > b.usdMicros ? 1 : 0))
  return { payable, unpayable }
}

function readPayable(
  offer: Offer,
  chains: readonly Chain[],
  usdMicrosOf: Pricing,
): PayableOffer | string {
  const problem = methodProblem(offer)
  if (problem !== undefined) return problem
  const chain = chains.find(({ caip2 }) => caip2 === offer.chain)
  if (!chain) return `The service is not connected to network ${offer.network}.`
  const token = tokenByAddress(chain, offer.asset)
  if (!token) return `The asset is no token that the service pays with on ${chain.title}.`
  const lie = domainProblem(offer, token)
  if (lie !== undefined) return lie
  const payTo = readAddress(offer.payTo)
  if ('refused' in payTo) return 'payTo is not a valid address.'
  if (isLossyRecipient(payTo.address, chain)) return 'Money sent to payTo would be lost.'
  if (offer.amountAtomic === 0n) return 'The amount is zero.'
  const usdMicros = usdMicrosOf(token, offer.amountAtomic)
  if (usdMicros === undefined) return `${token.symbol} has no USD rate configured.`
  // Limits are kept in bigint columns; more than this is no payment that any limit lets through.
  if (usdMicros >= 2n ** 62n) return 'The amount is beyond every limit.'
  return { offer, chain, token, payTo: payTo.address, usdMicros }
}

/** The scheme and the ways of `extra` that change what is signed or when it is settled. */
function methodProblem({ scheme, extra, maxTimeoutSeconds }: Offer): string | undefined {
  if (scheme !== 'exact') return `Scheme ${scheme} is not supported, only exact.`
  const method = extra['assetTransferMethod'] ?? 'eip3009'
  if (method !== 'eip3009') return `Transfer method ${quoted(method)} is not supported.`
  const flow = extra['paymentFlow'] ?? 'authorization'
  if (flow !== 'authorization') return `Payment flow ${quoted(flow)} is not supported.`
  if (maxTimeoutSeconds < timeoutSecondsMin) {
    return `The offer is valid for less than ${timeoutSecondsMin} seconds.`
  }
  return undefined
}

/** A merchant's word about the token that differs from ours: it would get a useless signature. */
function domainProblem({ extra }: Offer, token: Token): string | undefined {
  const { name = token.domain.name, version = token.domain.version } = extra
  if (name !== token.domain.name || version !== token.domain.version) {
    return 'The offered EIP-712 domain is not that of the token.'
  }
  const decimals = extra['decimals'] ?? token.decimals
  return decimals === token.decimals
    ? undefined
    : `The token has ${token.decimals} decimals, not ${quoted(decimals)}.`
}

/** A stranger's value inside our sentence: any JSON, cut short. */
function quoted(value: unknown): string {
  return JSON.stringify(value).slice(0, 64)
}
