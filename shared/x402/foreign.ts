/**
 * Reads 402 payment schemes that the service knows but cannot pay. They are read so that a person can see
 * what was asked. Anything that grants access, such as a macaroon, is left out.
 */

import { termsShown } from '../mail/untrusted.ts'
import { trimEndOf } from '../trim-end.ts'
import type { AuthChallenge } from './auth-challenge.ts'
import type { UnpayableOffer } from './offer.ts'

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
