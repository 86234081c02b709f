/**
 * Reads what an agent asks for into the exact terms that its owner will see: amounts in micro-USD,
 * chains and tokens of this deployment, addresses with their checksum, lists sorted and each once.
 */
import type { Address, Chain } from '../chains/chain.ts'
import { isLossyRecipient, readAddress } from '../chains/evm/address.ts'
import { wantedChains, wantedTokens } from '../chains/wanted.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'
import { parseAmount, usdDecimals } from '../money/amount.ts'
import type { MandateTerms } from '../policy/mandate.ts'
import { canonicalDomain } from './merchant-domain.ts'

/** How an agent puts it. */
export type MandateOrder = {
  merchant_domain: string
  include_subdomains?: boolean | undefined
  max_amount_per_payment_usd: string
  max_amount_per_day_usd?: string | undefined
  max_total_usd?: string | undefined
  max_payments?: number | undefined
  chains?: string[] | undefined
  tokens?: string[] | undefined
  pay_to?: string[] | undefined
}

type OrderRefusal = Refusal<
  | 'merchant_refused'
  | 'unsupported_chain'
  | 'unsupported_token'
  | 'recipient_refused'
  | 'invalid_request'
>
type Caps = Pick<
  MandateTerms,
  'maxPaymentUsdMicros' | 'maxDayUsdMicros' | 'maxTotalUsdMicros' | 'maxPayments'
>
/** The terms but for their end, which the database's clock sets. */
export type OrderedTerms = Omit<MandateTerms, 'expiresAt'>

/** The same for a million dollars as for the owner's own limits: nobody means more. */
const usdMicrosMax = 1_000_000_000_000n

/** Reads an order, or says which field cannot be had as it stands. */
export function readOrder(config: Config, order: MandateOrder): OrderedTerms | OrderRefusal {
  const merchant = readMerchant(config, order)
  if (isRefusal(merchant)) return merchant
  const caps = readCaps(order)
  if (isRefusal(caps)) return caps
  const chains = wantedChains(config, order.chains)
  if (isRefusal(chains)) return chains
  const tokens = readTokens(chains, order.tokens)
  if (isRefusal(tokens)) return tokens
  const payTo = readPayees(chains, order.pay_to)
  if (isRefusal(payTo)) return payTo
  const pinned = order.chains && chains.map(({ id }) => id).toSorted((a, b) => a - b)
  return { ...merchant, ...caps, chains: pinned ?? null, tokens, payTo }
}

function readMerchant(config: Config, order: MandateOrder) {
  const { include_subdomains: includeSubdomains = false, merchant_domain } = order
  const read = canonicalDomain(merchant_domain, config)
  if ('problem' in read) return refuseMerchant(read.problem, read.message)
  if (includeSubdomains && !read.ownsSubdomains) {
    const message = 'Not every host below this one has the same owner. Name the one that is paid.'
    return refuseMerchant('shared_subdomains', message)
  }
  return { merchantDomain: read.domain, includeSubdomains }
}

function refuseMerchant(problem: string, message: string): Refusal<'merchant_refused'> {
  const hint = 'A mandate names the exact host of the address that is paid, in plain letters.'
  return fail('merchant_refused', { message, hint, details: { problem } })
}

function readCaps(order: MandateOrder): Caps | Refusal<'invalid_request'> {
  const read = {
    max_amount_per_payment_usd: readUsd(order.max_amount_per_payment_usd),
    max_amount_per_day_usd: readUsd(order.max_amount_per_day_usd),
    max_total_usd: readUsd(order.max_total_usd),
  }
  const wrong = Object.entries(read).find(([, usdMicros]) => usdMicros === undefined)
  if (wrong) return invalid(wrong[0], 'more than 0 and at most 1000000, with at most 6 decimals')
  const payment = read.max_amount_per_payment_usd ?? 0n
  const { max_amount_per_day_usd: day = null, max_total_usd: total = null } = read
  const notLess = 'not less than max_amount_per_payment_usd'
  if (day !== null && day < payment) return invalid('max_amount_per_day_usd', notLess)
  if (total !== null && total < payment) return invalid('max_total_usd', notLess)
  return {
    maxPaymentUsdMicros: payment,
    maxDayUsdMicros: day,
    maxTotalUsdMicros: total,
    maxPayments: order.max_payments ?? null,
  }
}

/** Micro-USD; null where none is given, undefined where it is no such amount. */
function readUsd(text: string | undefined): bigint | null | undefined {
  if (text === undefined) return null
  const usdMicros = parseAmount(text, usdDecimals) ?? 0n
  return usdMicros > 0n && usdMicros <= usdMicrosMax ? usdMicros : undefined
}

function invalid(name: string, rule: string): Refusal<'invalid_request'> {
  return fail('invalid_request', { message: `${name}: ${rule}` })
}

function readTokens(chains: Chain[], names: string[] | undefined) {
  if (!names) return null
  const isWanted = wantedTokens(chains, names)
  if (isRefusal(isWanted)) return isWanted
  const tokens = chains.flatMap((chain) => chain.tokens)
  const wanted = tokens.filter(({ symbol, address }) => isWanted(symbol, address))
  // The native coin is a name that is known, but no token that anything is paid with.
  if (wanted.length === 0) return fail('unsupported_token', { details: { tokens: names } })
  return sorted(wanted.map(({ address }) => address))
}

function readPayees(chains: Chain[], texts: string[] | undefined) {
  if (!texts) return null
  const payees: Address[] = []
  for (const text of texts) {
    const read = readAddress(text)
    if ('refused' in read) return invalid('pay_to', `${text} is no address with a right checksum`)
    const loss = chains.map((chain) => isLossyRecipient(read.address, chain)).find(Boolean)
    if (loss) return fail('recipient_refused', { details: { pay_to: text, reason: loss } })
    payees.push(read.address)
  }
  return sorted(payees)
}

/** By their text, as SQL under the C collation and the canonical terms have them. */
function sorted(addresses: readonly Address[]): Address[] {
  return [...new Set(addresses)].toSorted((a, b) => (a < b ? -1 : 1))
}
