/** The order in which offers are tried after a merchant refused some of them. Decided from facts alone. */
import type { PayableOffer } from '../x402/offers.ts'
import type { Entered } from './entered.ts'

/**
 * What the merchant refused for this resource a moment ago is tried when nothing else can be paid, and
 * the same way at another price or to another payee before the very same offer.
 */
export function refusedLast(offers: readonly PayableOffer[], { facts }: Entered): PayableOffer[] {
  const nearness = (offer: PayableOffer) => {
    const ways = facts.refused_ways.filter((way) => isSameWay(way, offer))
    const isSame = ways.some(
      (way) => way.payee === offer.payTo && way.amount_atomic === offer.offer.amountAtomic,
    )
    return isSame ? 2 : Math.min(ways.length, 1)
  }
  return offers.toSorted((a, b) => nearness(a) - nearness(b))
}

function isSameWay(
  way: Entered['facts']['refused_ways'][number],
  { offer, method, chain, token }: PayableOffer,
): boolean {
  return (
    way.protocol === offer.protocol &&
    way.scheme === offer.scheme &&
    way.transfer_method === method &&
    flowOf(way.payment_flow) === flowOf(offer.extra['paymentFlow']) &&
    way.chain === chain.id &&
    way.token === token.address
  )
}

function flowOf(named: unknown): unknown {
  return named ?? 'authorization'
}
