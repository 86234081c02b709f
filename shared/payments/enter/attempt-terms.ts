/**
 * Freezes and shows the terms of an x402 attempt. They are stored with the payment: the offer that the
 * payload returns, and the request that is sent unchanged.
 */
import * as z from 'zod'
import { sameHex } from '../../chains/hex.ts'
import { assetOf } from '../../chains/registry.ts'
import { formatAmount, formatUsd } from '../../money/amount.ts'
import { type FrozenRequest, frozenRequest, requestDigest } from '../../x402/challenge.ts'
import { methodOf } from '../../x402/offer.ts'
import type { OfferedTerms, PayableOffer } from '../../x402/offers.ts'
import { validSecondsOf } from '../../x402/validity.ts'
import { nextCall } from '../next-call.ts'
import type { Payment } from '../payment.ts'
import { summaryOf } from '../words.ts'

const attemptTerms = z.object({
  protocol: z.enum(['x402', 'mpp']),
  transfer_method: z.enum(['eip3009', 'permit2']),
  version: z.union([z.literal(1), z.literal(2)]),
  scheme: z.string(),
  /** Network as offered: version 1 has network names of its own. */
  network: z.string(),
  requirement: z.record(z.string(), z.unknown()),
  resource: z.unknown().optional(),
  extensions: z.unknown().optional(),
  origin: z.string(),
  valid_seconds: z.int().positive(),
  /** Unix seconds at which the challenge ends; no signature for it is valid for longer. */
  valid_until: z.int().optional(),
  request: frozenRequest,
  request_digest: z.string(),
})

/** Terms that were agreed at prepare and must not change. */
export type AttemptTerms = z.output<typeof attemptTerms>

/** Reads the terms of a payment that was entered as an attempt. */
export function termsOf(payment: Payment): AttemptTerms {
  return attemptTerms.parse(payment.terms)
}

/** Freezes the terms of one offer for one request. */
export async function freezeTerms(
  { offer, method }: PayableOffer,
  request: FrozenRequest,
): Promise<AttemptTerms> {
  const { protocol, version, scheme, network, requirement, resource, extensions } = offer
  const { maxTimeoutSeconds, expiresAtSeconds } = offer
  return {
    protocol,
    transfer_method: method,
    version,
    scheme,
    network,
    requirement,
    ...(resource === undefined ? {} : { resource }),
    ...(extensions === undefined ? {} : { extensions }),
    origin: new URL(request.url).origin,
    valid_seconds: validSecondsOf(maxTimeoutSeconds),
    ...(expiresAtSeconds === undefined ? {} : { valid_until: expiresAtSeconds }),
    request,
    request_digest: await requestDigest(request),
  }
}

/** Returns the answer of x402_payment_prepare for an attempt that needs no confirmation. */
export function preparedBody(payment: Payment) {
  const { chain, token } = assetOf(payment)
  const terms = termsOf(payment)
  return {
    attempt_id: payment.id,
    requires_user_confirm: false,
    reasons: [],
    summary: summaryOf(payment),
    next: nextCall(payment, false),
    terms: {
      protocol: terms.protocol,
      version: terms.version,
      scheme: terms.scheme,
      transfer_method: terms.transfer_method,
      network: chain.caip2,
      token: token.symbol,
      token_address: token.address,
      amount: formatAmount(payment.amount_atomic, token.decimals),
      amount_atomic: payment.amount_atomic.toString(),
      amount_usd: formatUsd(payment.amount_usd_micros),
      pay_to: payment.payee,
      origin: terms.origin,
      method: terms.request.method,
      valid_seconds: terms.valid_seconds,
    },
    expires_at: payment.expires_at,
  }
}

/**
 * True if an offer equals the terms in all that decides where money goes and how much: the way to pay,
 * chain, token, payee, amount, and who may settle. The rest of an offer may change with each answer.
 */
export function isOffered(
  payment: Payment,
  terms: AttemptTerms,
  { offers }: Pick<OfferedTerms, 'offers'>,
): boolean {
  const settler = settlerOf(terms.requirement['extra'])
  return offers.some(
    (offer) =>
      offer.protocol === terms.protocol &&
      offer.scheme === terms.scheme &&
      methodOf(offer) === terms.transfer_method &&
      offer.chain === `eip155:${payment.chain}` &&
      offer.amountAtomic === payment.amount_atomic &&
      sameHex(offer.payTo, payment.payee) &&
      sameHex(offer.asset, payment.token) &&
      sameHex(settlerOf(offer.extra), settler),
  )
}

/** Returns the facilitator that alone may settle a permit of the scheme upto. */
function settlerOf(extra: unknown): string {
  const given = typeof extra === 'object' && extra !== null ? Object.entries(extra) : []
  const [, settler] = given.find(([name]) => name === 'facilitatorAddress') ?? []
  return typeof settler === 'string' ? settler : ''
}
