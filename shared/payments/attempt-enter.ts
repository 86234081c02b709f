/**
 * Enters an x402 attempt with the best offer: the cheapest that the wallet can pay. Nothing is
 * reserved and nothing is signed here.
 */
import type { Balances } from '../chains/evm/balances.ts'
import { readBalances } from '../chains/evm/balances.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import type { Context } from '../http/handler.ts'
import type { Challenge } from '../x402/challenge.ts'
import type { PayableOffer } from '../x402/offers.ts'
import type { FrozenRequest } from '../x402/request.ts'
import { freezeTerms } from './attempt-terms.ts'
import { notFunded } from './not-funded.ts'
import type { Entered, Payment } from './payment.ts'
import { enteredRow } from './payment.ts'

/** How long an attempt can be executed after it was prepared. */
const expiresInSeconds = 600

/** Offers that are tried; more chains than this are not read for one payment. */
const candidatesMax = 8

/** Enters the cheapest offer; when the wallet cannot pay that one, the cheapest that it can. */
export async function enterAttempt(
  context: Context,
  challenge: Challenge,
  offers: readonly PayableOffer[],
  request: FrozenRequest,
): Promise<Entered | Refusal<'insufficient_funds' | 'recipient_refused'>> {
  const candidates = offers.slice(0, candidatesMax)
  const [cheapest] = candidates
  if (!cheapest) throw new Error('there is no offer to enter')
  const entered = await begin(context, challenge, cheapest, request)
  const { wallet } = entered.payment_row
  if (candidates.some(({ payTo }) => payTo === wallet)) {
    return fail('recipient_refused', { message: 'This is your own wallet.' })
  }
  const held = await Promise.all(candidates.map((offer) => free(context, offer, entered)))
  const at = candidates.findIndex(({ offer }, index) => offer.amountAtomic <= (held[index] ?? 0n))
  const chosen = candidates[at]
  if (!chosen) return notFunded(cheapest, cheapest.offer.amountAtomic, held[0] ?? 0n)
  return at === 0 ? entered : begin(context, challenge, chosen, request)
}

async function begin(
  context: Context,
  challenge: Challenge,
  chosen: PayableOffer,
  request: FrozenRequest,
): Promise<Entered> {
  const { chain, token, offer } = chosen
  const question = {
    kind: 'x402',
    device: await context.device(),
    chain: chain.id,
    token: token.address,
    payee: chosen.payTo,
    amount_atomic: offer.amountAtomic.toString(),
    amount_usd_micros: chosen.usdMicros.toString(),
    terms: await freezeTerms(challenge, chosen, request),
    expires_in_seconds: expiresInSeconds,
  }
  const entered = await context.db.one('begin_payment', question, enteredRow)
  if (!entered) throw new Error('begin_payment answered no row')
  return entered
}

/** What the wallet can still spend of an offer's token; a silent chain counts as able to pay. */
async function free(context: Context, { chain, token, offer }: PayableOffer, entered: Entered) {
  const payment = entered.payment_row
  const seen = await readFunds(context, payment.wallet, chain, token)
  if (seen.status !== 'ok') return offer.amountAtomic
  const isSame = payment.chain === chain.id && payment.token === token.address
  const reserved = isSame ? entered.facts.reserved_atomic : 0n
  return heldOf(seen) - reserved
}

/** The balance of one token of a wallet. */
export function readFunds(
  context: Context,
  address: Payment['wallet'],
  chain: PayableOffer['chain'],
  token: PayableOffer['token'],
) {
  return readBalances(context.world, chain, { address, tokens: [token] })
}

/** The only amount in a reading of one token. */
export function heldOf(seen: Balances): bigint {
  return seen.tokens[0]?.amountAtomic ?? 0n
}
