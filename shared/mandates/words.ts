/**
 * Writes the terms of a mandate as one sentence that a person can agree to. It contains all of them: the
 * payee, each cap, each pin and the end. An absent cap is not mentioned.
 */
import { findChain, knownChains, tokenByAddress } from '../chains/registry.ts'
import { utc } from '../mail/deed.ts'
import { formatUsd } from '../money/amount.ts'
import type { MandateTerms } from '../policy/mandate.ts'
import { readableName } from './readable-name.ts'

/** Returns such as "Pay shop.example.com up to 5 USD each and 20 USD a day, until 2026-12-24 08:00 UTC." */
export function mandateSummary(terms: MandateTerms): string {
  const below = terms.includeSubdomains ? ' and every host below it' : ''
  const pins = pinWords(terms).map((pin) => `, ${pin}`)
  const until = `, until ${utc(terms.expiresAt)}`
  return `Pay ${merchantWords(terms)}${below} up to ${capWords(terms)}${pins.join('')}${until}.`
}

/** Returns the merchant's host as it is compared, and its readable form if that differs. */
export function merchantWords({ merchantDomain }: Pick<MandateTerms, 'merchantDomain'>): string {
  const name = readableName(merchantDomain)
  return name === undefined || name === merchantDomain
    ? merchantDomain
    : `${merchantDomain} (reads as ${name})`
}

/** Returns all caps, such as "5 USD each, 20 USD a day and 100 USD in all, in at most 30 payments". */
export function capWords(terms: Omit<MandateTerms, 'merchantDomain' | 'expiresAt'>): string {
  const { maxPaymentUsdMicros, maxDayUsdMicros, maxTotalUsdMicros, maxPayments } = terms
  const amounts = [
    `${formatUsd(maxPaymentUsdMicros)} USD each`,
    ...(maxDayUsdMicros === null ? [] : [`${formatUsd(maxDayUsdMicros)} USD a day`]),
    ...(maxTotalUsdMicros === null ? [] : [`${formatUsd(maxTotalUsdMicros)} USD in all`]),
  ]
  const payments = maxPayments === 1 ? '1 payment' : `at most ${maxPayments} payments`
  return listed(amounts, 'and') + (maxPayments === null ? '' : `, in ${payments}`)
}

function pinWords({ chains, tokens, payTo }: MandateTerms): string[] {
  const chainTitles = chains?.map((id) => findChain(`eip155:${id}`)?.title ?? `eip155:${id}`)
  const symbols = tokens && [...new Set(tokens.map(symbolOf))]
  return [
    ...(chainTitles ? [`only on ${listed(chainTitles, 'or')}`] : []),
    ...(symbols ? [`only in ${listed(symbols, 'or')}`] : []),
    ...(payTo ? [`only to ${listed(payTo, 'or')}`, 'by transfer too'] : []),
  ]
}

function symbolOf(address: string): string {
  const tokens = knownChains.flatMap((chain) => tokenByAddress(chain, address) ?? [])
  return tokens[0]?.symbol ?? address
}

function listed(words: readonly string[], conjunction: string): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}
