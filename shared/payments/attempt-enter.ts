/**
 * Enters an x402 attempt with the first offer, in the order that they come in, which the wallet can
 * pay. Nothing is reserved and nothing is signed here.
 */
import { agreedBar } from '../chains/evm/agreed-bars.ts'
import type { Barred } from '../chains/evm/bars.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import { challengeNonce } from '../custody/nonce.ts'
import { sha256Hex } from '../digest.ts'
import type { Context } from '../http/handler.ts'
import { timeoutSecondsMin } from '../x402/offer.ts'
import type { PayableOffer } from '../x402/offers.ts'
import { unpayableOf } from '../x402/offers.ts'
import type { FrozenRequest } from '../x402/request.ts'
import { resourceDigest } from '../x402/request.ts'
import { allowanceFor, readFunds } from './attempt-funds.ts'
import { refusedLast } from './attempt-order.ts'
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

/** Offers that the chains are asked about at once; the next ones only when none of these can be paid. */
const askedMax = 8

/** What a wallet can still spend of an offer's token, or why none of it can go to the payee. */
type Standing = { freeAtomic: bigint } | { barred: Barred } | { reason: string } | 'silent'

/** An offer with its standing. */
type Judged = { payable: PayableOffer; standing: Standing }

type Refused = Refusal<
  | 'insufficient_funds'
  | 'recipient_refused'
  | 'invalid_challenge'
  | 'unsupported_scheme'
  | 'unavailable'
>

/** A request that is to be paid for, and whether the service itself heard what is asked for it. */
export type Purchase = { request: FrozenRequest; heard: boolean }

/** Enters the best offer; when the wallet cannot pay that one, or has paid it, the next that it can. */
export async function enterAttempt(
  context: Context,
  offers: readonly PayableOffer[],
  purchase: Purchase,
): Promise<Entered | Refused> {
  const first = await enterFirst(context, offers, purchase)
  if (isRefusal(first)) return first
  const { entered, chosen, rest } = first
  const { wallet } = entered.payment_row
  const candidates = refusedLast([chosen, ...rest], entered).filter(({ payTo }) => payTo !== wallet)
  const judged: Judged[] = []
  let refused: Refused | undefined
  for await (const payable of payableInTurn(context, candidates, { entered, judged })) {
    const begun = payable === chosen ? entered : await begin(context, payable, purchase)
    if (!isRefusal(begun)) return begun
    refused ??= begun
  }
  return refused ?? unpayable(judged)
}

/** Enters the first offer that lets itself be entered, which tells what the rest is judged by. */
async function enterFirst(
  context: Context,
  offers: readonly PayableOffer[],
  purchase: Purchase,
): Promise<Refused | { entered: Entered; chosen: PayableOffer; rest: readonly PayableOffer[] }> {
  let refused: Refused | undefined
  for (const [at, chosen] of offers.entries()) {
    const entered = await begin(context, chosen, purchase)
    if (!isRefusal(entered)) return { entered, chosen, rest: offers.slice(at + 1) }
    refused ??= entered
  }
  if (!refused) throw new Error('there is no offer to enter')
  return refused
}

/** Yields what the wallet can pay, and then what is on a chain that is silent: it may be able to. */
async function* payableInTurn(
  context: Context,
  candidates: readonly PayableOffer[],
  { entered, judged }: { entered: Entered; judged: Judged[] },
): AsyncGenerator<PayableOffer> {
  for (let from = 0; from < candidates.length; from += askedMax) {
    const silent = new Set(judged.filter(isSilent).map(({ payable }) => payable.chain.id))
    const asked = await Promise.all(
      candidates.slice(from, from + askedMax).map(async (payable): Promise<Judged> => {
        if (silent.has(payable.chain.id)) return { payable, standing: 'silent' }
        return { payable, standing: await standingOf(context, payable, entered) }
      }),
    )
    judged.push(...asked)
    yield* asked.filter(canPay).map(({ payable }) => payable)
  }
  yield* judged.filter(isSilent).map(({ payable }) => payable)
}

function canPay({ payable, standing }: Judged): boolean {
  if (standing === 'silent' || !('freeAtomic' in standing)) return false
  return payable.offer.amountAtomic <= standing.freeAtomic
}

function isSilent({ standing }: Judged): boolean {
  return standing === 'silent'
}

async function standingOf(
  context: Context,
  payable: PayableOffer,
  { payment_row: payment, facts }: Entered,
): Promise<Standing> {
  const { chain, token, payTo } = payable
  const { wallet } = payment
  const [seen, permit] = await Promise.all([
    readFunds(context, payable, { wallet, payee: payTo }),
    permitFor(context, payable, wallet),
  ])
  if (permit?.status === 'not_allowed') return permit
  if (seen.status !== 'ok') return 'silent'
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

/** Why none can be paid: for want of funds, by the issuer's word, or because Permit2 may not take it. */
function unpayable(judged: readonly Judged[]): Refused {
  const told = judged.flatMap(({ payable, standing }) =>
    standing === 'silent' ? [] : [{ payable, standing }],
  )
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
    ...(offer.protocol === 'mpp' ? await challengeOf(offer, terms) : {}),
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

/**
 * A challenge of MPP fixes the nonce, so an account signs it once, whoever asks under it, and enters it
 * once for an origin: the claim is UUID version 8 of both.
 */
async function challengeOf({ requirement }: PayableOffer['offer'], { origin }: AttemptTerms) {
  const { id, realm } = requirement
  const hex = await sha256Hex(JSON.stringify([origin, id, realm]))
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return {
    claim: [...parts, hex.slice(20, 32)].join('-'),
    nonce: challengeNonce(requirement),
  }
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
