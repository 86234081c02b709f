/** Decides whether a resource asks for what an attempt would pay. */
import type { OfferedTerms } from '../../x402/demand.ts'
import { methodOf } from '../../x402/offer.ts'
import type { Payment } from '../payment.ts'
import type { AttemptTerms } from './attempt-terms.ts'

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
      isSameAddress(offer.payTo, payment.payee) &&
      isSameAddress(offer.asset, payment.token) &&
      isSameAddress(settlerOf(offer.extra), settler),
  )
}

/** Returns the facilitator that alone may settle a permit of the scheme upto. */
function settlerOf(extra: unknown): string {
  const given = typeof extra === 'object' && extra !== null ? Object.entries(extra) : []
  const [, settler] = given.find(([name]) => name === 'facilitatorAddress') ?? []
  return typeof settler === 'string' ? settler : ''
}

function isSameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
