/**
 * Enters an x402 attempt with the first offer, in the order that they come in, which the wallet can
 * pay. Nothing is reserved and nothing is signed here.
 */
import { agreedBar } from '../chains/evm/agreed-bars.ts'
import type { Barred } from '../chains/evm/bars.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import { challengePreimage } from '../custody/nonce.ts'
import { sha256Hex } from '../digest.ts'
import type { Context } from '../http/handler.ts'
import { timeoutSecondsMin } from '../x402/offer.ts'
import type { PayableOffer } from '../x402/offers.ts'
import { unpayableOf } from '../x402/offers.ts'
import type { FrozenRequest } from '../x402/request.ts'
import { resourceDigest } from '../x402/request.ts'
import { allowanceFor, readFunds } from './attempt-funds.ts'
import type { AttemptTerms } from './attempt-terms.ts'
import { freezeTerms } from './attempt-terms.ts'
import { refuseBarred } from './barred.ts'
import type { Entered } from './entered.ts'
import { enteredRow } from './entered.ts'
import { notFunded } from './not-funded.ts'
import { ownWallet } from './own-wallet.ts'
import type { Payment } from './payment.ts'

/**
 * How long an attempt can be executed after it was prepared: as long as an owner may need to approve
 * it. What it signs then is as short as the offer asks, and an offer that ended is rejected unpaid.
 */
const expiresInSeconds = 86_400

/** Offers that are tried; more chains than this are not read for one payment. */
const candidatesMax = 8

type Refused = Refusal<
  | 'insufficient_funds'
  | 'recipient_refused'
  | 'invalid_challenge'
  | 'unsupported_scheme'
  | 'unavailable'
>

/** A request that is to be paid for, and whether the service itself heard what is asked for it. */
export type Purchase = { request: FrozenRequest; heard: boolean }

/** Enters the best offer; when the wallet cannot pay that one, the next that it can. */
export async function enterAttempt(
  context: Context,
  offers: readonly PayableOffer[],
  purchase: Purchase,
): Promise<Entered | Refused> {
  const [best] = offers
  if (!best) throw new Error('there is no offer to enter')
  const entered = await begin(context, best, purchase)
  if (isRefusal(entered)) return entered
  const candidates = refusedLast(offers.slice(0, candidatesMax), entered)
  const { wallet } = entered.payment_row
  if (candidates.some(({ payTo }) => payTo === wallet)) return ownWallet
  const standings = await Promise.all(
    candidates.map((offer) => standingOf(context, offer, entered)),
  )
  const at = candidates.findIndex(({ offer }, index) => canPay(standings[index], offer))
  const chosen = candidates[at]
  if (!chosen) return unpayable(candidates, standings)
  return chosen === best ? entered : begin(context, chosen, purchase)
}

/** What the merchant refused for this resource a moment ago is tried when nothing else can be paid. */
function refusedLast(offers: readonly PayableOffer[], { facts }: Entered): PayableOffer[] {
  const wasRefused = ({ offer, method, chain, token }: PayableOffer) =>
    facts.refused_ways.some(
      (way) =>
        way.protocol === offer.protocol &&
        way.scheme === offer.scheme &&
        way.transfer_method === method &&
        flowOf(way.payment_flow) === flowOf(offer.extra['paymentFlow']) &&
        way.chain === chain.id &&
        way.token === token.address,
    )
  return [...offers.filter((one) => !wasRefused(one)), ...offers.filter(wasRefused)]
}

function flowOf(named: unknown): unknown {
  return named ?? 'authorization'
}

/** What a wallet can still spend of an offer's token, or why none of it can go to the payee. */
type Standing = { freeAtomic: bigint } | { barred: Barred } | { reason: string }

function canPay(standing: Standing | undefined, { amountAtomic }: PayableOffer['offer']): boolean {
  return standing !== undefined && 'freeAtomic' in standing && amountAtomic <= standing.freeAtomic
}

/** Why none can be paid: for want of funds, by the issuer's word, or because Permit2 may not take it. */
function unpayable(candidates: readonly PayableOffer[], standings: readonly Standing[]): Refused {
  const told = candidates.flatMap((payable, index) => {
    const standing = standings[index]
    return standing ? [{ payable, standing }] : []
  })
  for (const { payable, standing } of told) {
    if (!('freeAtomic' in standing)) continue
    return notFunded(payable, payable.offer.amountAtomic, standing.freeAtomic)
  }
  for (const { payable, standing } of told) {
    if ('barred' in standing) return refuseBarred(standing.barred, payable.token.symbol)
  }
  const offers = told.flatMap(({ payable: { offer }, standing }) =>
    'reason' in standing ? [unpayableOf(offer, standing.reason)] : [],
  )
  return fail('unsupported_scheme', { details: { offers } })
}

async function begin(
  context: Context,
  chosen: PayableOffer,
  { request, heard }: Purchase,
): Promise<Entered | Refusal<'invalid_challenge' | 'recipient_refused'>> {
  const { chain, token, offer } = chosen
  const terms = await freezeTerms(chosen, request)
  const question = {
    kind: 'x402',
    device: await context.device(),
    chain: chain.id,
    token: token.address,
    payee: chosen.payTo,
    amount_atomic: offer.amountAtomic.toString(),
    amount_usd_micros: chosen.usdMicros.toString(),
    terms,
    resource: await resourceDigest(request),
    heard,
    expires_in_seconds: Math.min(expiresInSeconds, secondsLeft(offer)),
    ...(offer.protocol === 'mpp' ? { claim: await claimOf(offer) } : {}),
  }
  const entered = await context.db.one('begin_payment', question, enteredRow)
  if (!entered) return ownWallet
  return isSame(entered, terms) ? entered : fail('invalid_challenge', answeredBefore)
}

/** A challenge that ends by itself is not worth confirming when there is no time left to settle. */
function secondsLeft({ expiresAtSeconds, maxTimeoutSeconds }: PayableOffer['offer']): number {
  return expiresAtSeconds === undefined
    ? expiresInSeconds
    : maxTimeoutSeconds - timeoutSecondsMin + 1
}

/** A challenge of MPP fixes the nonce, so an account enters it once; this is UUID version 8 of it. */
async function claimOf({ requirement }: PayableOffer['offer']): Promise<string> {
  const hex = await sha256Hex(challengePreimage(requirement))
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return [...parts, hex.slice(20, 32)].join('-')
}

/** Whether what is entered under the claim is this attempt and still to be paid. */
function isSame({ payment_row: { state, terms } }: Entered, wanted: AttemptTerms): boolean {
  const isUnused = state === 'prepared' || state === 'awaiting_confirmation'
  return isUnused && terms['request_digest'] === wanted.request_digest
}

const answeredBefore = {
  message: 'This challenge was prepared before, and it is good for one payment.',
  hint: 'Execute that attempt, or ask the resource for a new challenge.',
}

/** A silent chain counts as able to pay. */
async function standingOf(
  context: Context,
  payable: PayableOffer,
  { payment_row: payment, facts }: Entered,
): Promise<Standing> {
  const { chain, token, offer, payTo } = payable
  const { wallet } = payment
  const [seen, permit] = await Promise.all([
    readFunds(context, payable, { wallet, payee: payTo }),
    permitFor(context, payable, wallet),
  ])
  if (permit?.status === 'not_allowed') return permit
  if (seen.status !== 'ok') return { freeAtomic: offer.amountAtomic }
  const parties = { token, wallet, payee: payTo }
  const barred = await agreedBar(context.world, chain, parties, seen.barred)
  if (barred) return { barred }
  const isSame = payment.chain === chain.id && payment.token === token.address
  return { freeAtomic: seen.tokenAtomic - (isSame ? facts.reserved_atomic : 0n) }
}

function permitFor(context: Context, payable: PayableOffer, wallet: Payment['wallet']) {
  const { amountAtomic, extensions, scheme: name } = payable.offer
  if (payable.method !== 'permit2') return undefined
  const scheme = name === 'upto' ? name : 'exact'
  return allowanceFor(context, payable, { wallet, amountAtomic, extensions, scheme })
}
