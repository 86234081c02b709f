/**
 * Reads an agent's request for a mandate into the exact terms that the owner will see: amounts in
 * micro-USD, chains and tokens of this deployment, addresses with checksum, and sorted lists without
 * duplicates.
 */
import type { Address, Chain } from '../chains/chain.ts'
import { lossReasonOf, readAddress } from '../chains/evm/address.ts'
import { wantedChains, wantedTokens } from '../chains/wanted.ts'
import { fail, isRefusal, type Refusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'
import { formatUsd, parseDollars, usdDecimals } from '../money/amount.ts'
import { leftOf, type MandateTerms } from '../policy/mandate.ts'
import { type MandateRow, mandateFacts } from './mandate-row.ts'
import { canonicalDomain } from './merchant-domain.ts'
import { readableName } from './readable-name.ts'
import { mandateSummary } from './words.ts'

/** A mandate as the agent requests it. */
export type MandateRequest = {
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

type MandateRequestRefusal = Refusal<
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
/** Terms without their expiry, which is set by the database's clock. */
export type RequestedTerms = Omit<MandateTerms, 'expiresAt'>

/** One million dollars, the same maximum as for the owner's own limits. */
const usdMicrosMax = 1_000_000_000_000n

/** Reads a request, or returns a refusal that says which field is wrong. */
export function readMandateRequest(
  config: Config,
  request: MandateRequest,
): RequestedTerms | MandateRequestRefusal {
  const merchant = readMerchant(config, request)
  if (isRefusal(merchant)) return merchant
  const caps = readCaps(request)
  if (isRefusal(caps)) return caps
  const chains = wantedChains(config, request.chains)
  if (isRefusal(chains)) return chains
  const tokens = readTokens(chains, request.tokens)
  if (isRefusal(tokens)) return tokens
  const payTo = readPayees(chains, request.pay_to)
  if (isRefusal(payTo)) return payTo
  const pinned = request.chains && chains.map(({ id }) => id).toSorted((a, b) => a - b)
  return { ...merchant, ...caps, chains: pinned ?? null, tokens, payTo }
}

function readMerchant(config: Config, request: MandateRequest) {
  const { include_subdomains: includeSubdomains = false, merchant_domain } = request
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

function readCaps(request: MandateRequest): Caps | Refusal<'invalid_request'> {
  const read = {
    max_amount_per_payment_usd: readUsd(request.max_amount_per_payment_usd),
    max_amount_per_day_usd: readUsd(request.max_amount_per_day_usd),
    max_total_usd: readUsd(request.max_total_usd),
  }
  const wrong = Object.entries(read).find(([, usdMicros]) => usdMicros === undefined)
  if (wrong)
    return invalidField(wrong[0], 'more than 0 and at most 1000000, with at most 6 decimals')
  const payment = read.max_amount_per_payment_usd ?? 0n
  const { max_amount_per_day_usd: day = null, max_total_usd: total = null } = read
  const notLess = 'not less than max_amount_per_payment_usd'
  if (day !== null && day < payment) return invalidField('max_amount_per_day_usd', notLess)
  if (total !== null && total < payment) return invalidField('max_total_usd', notLess)
  return {
    maxPaymentUsdMicros: payment,
    maxDayUsdMicros: day,
    maxTotalUsdMicros: total,
    maxPayments: request.max_payments ?? null,
  }
}

/** Reads micro-USD; null if absent, undefined if it is not an allowed amount. */
function readUsd(text: string | undefined): bigint | null | undefined {
  if (text === undefined) return null
  const usdMicros = parseDollars(text, usdDecimals) ?? 0n
  return usdMicros > 0n && usdMicros <= usdMicrosMax ? usdMicros : undefined
}

function invalidField(name: string, rule: string): Refusal<'invalid_request'> {
  return fail('invalid_request', { message: `${name}: ${rule}` })
}

function readTokens(chains: Chain[], names: string[] | undefined) {
  if (!names) return null
  const isWanted = wantedTokens(chains, names)
  if (isRefusal(isWanted)) return isWanted
  const tokens = chains.flatMap((chain) => chain.tokens)
  const wanted = tokens.filter(({ symbol, address }) => isWanted(symbol, address))
  // The native coin is a known name, but not a token for payments.
  if (wanted.length === 0) return fail('unsupported_token', { details: { tokens: names } })
  return sorted(wanted.map(({ address }) => address))
}

function readPayees(chains: Chain[], texts: string[] | undefined) {
  if (!texts) return null
  const payees: Address[] = []
  for (const text of texts) {
    const read = readAddress(text)
    if ('refused' in read)
      return invalidField('pay_to', `${text} is no address with a right checksum`)
    const loss = chains.map((chain) => lossReasonOf(read.address, chain)).find(Boolean)
    if (loss) return fail('recipient_refused', { details: { pay_to: text, reason: loss } })
    payees.push(read.address)
  }
  return sorted(payees)
}

/** Sorts by text, as SQL under the C collation and the canonical terms do. */
function sorted(addresses: readonly Address[]): Address[] {
  return [...new Set(addresses)].toSorted((a, b) => (a < b ? -1 : 1))
}

/** Returns the mandate in the form of the API. */
export function mandateBody(row: MandateRow, config: Pick<Config, 'WEB_URL'>) {
  const name = readableName(row.merchant_domain)
  return {
    mandate_id: row.id,
    status: row.status,
    summary: mandateSummary(mandateFacts(row)),
    merchant_domain: row.merchant_domain,
    ...(name === undefined || name === row.merchant_domain ? {} : { merchant_name: name }),
    include_subdomains: row.include_subdomains,
    caps: {
      max_amount_per_payment_usd: formatUsd(row.max_payment_usd_micros),
      max_amount_per_day_usd: usd(row.max_day_usd_micros),
      max_total_usd: usd(row.max_total_usd_micros),
      max_payments: row.max_payments,
    },
    chains: row.chains?.map((id) => `eip155:${id}`) ?? null,
    tokens: row.tokens,
    pay_to: row.pay_to,
    ...usageBody(row),
    narrowed: row.requested !== null,
    created_at: row.created_at,
    expires_at: row.expires_at,
    decided_at: row.decided_at,
    revoked_at: row.revoked_at,
    approval_url: mandateUrl(config, row.id),
  }
}

/** Returns the URL of a mandate's page, which only its owner may see. */
export function mandateUrl({ WEB_URL }: Pick<Config, 'WEB_URL'>, id: string): string {
  return `${WEB_URL}/mandate/${id}`
}

function usageBody(row: MandateRow) {
  const { day, total } = leftOf(mandateFacts(row))
  const { max_payments: count } = row
  return {
    spent: {
      today_usd: formatUsd(row.spent_day_usd_micros),
      total_usd: formatUsd(row.spent_total_usd_micros),
      payments: row.payments,
    },
    left: {
      today_usd: usd(day),
      today_resets_at: row.day_resets_at,
      total_usd: usd(total),
      payments: count === null ? null : count - row.payments,
    },
  }
}

function usd(usdMicros: bigint | null): string | null {
  return usdMicros === null ? null : formatUsd(usdMicros)
}
