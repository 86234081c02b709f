/** Orders the offers to try after a merchant refused some of them. Works on facts alone. */
import type { PayableOffer } from '../../x402/offers.ts'
import type { PurchaseFacts } from './purchase-facts.ts'

/**
 * Sorts offers so that those the merchant just refused for this resource come last. The same way to pay, at
 * another price or to another payee, comes before the identical offer.
 */
export function refusedLast(
  offers: readonly PayableOffer[],
  { refused_ways: refused }: PurchaseFacts,
): PayableOffer[] {
  const nearness = (offer: PayableOffer) => {
    const ways = refused.filter((way) => isSameWay(way, offer))
    const isSame = ways.some(
      (way) => way.payee === offer.payTo && way.amount_atomic === offer.offer.amountAtomic,
    )
    return isSame ? 2 : Math.min(ways.length, 1)
  }
  return offers.toSorted((a, b) => nearness(a) - nearness(b))
}

function isSameWay(
  way: PurchaseFacts['refused_ways'][number],
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
