/**
 * Enters an x402 attempt in the ledger with the first offer, in the order received, that the wallet can pay.
 * Reads the order and what the purchase is judged by. Reserves and signs nothing.
 */
import * as z from 'zod'
import { type Barred, readBalanceAndBar } from '../../chains/evm/funds.ts'
import { readAllowance } from '../../chains/evm/permit2.ts'
import type { OpenSignature } from '../../chains/evm/signature-use.ts'
import { addressSchema } from '../../chains/hex.ts'
import { fail, isRefusal, type Refusal } from '../../contract/errors.ts'
import { challengeNonce } from '../../custody/nonce.ts'
import { type Permit2Form, permit2Spenders } from '../../custody/typed-digest.ts'
import { sha256Hex } from '../../digest.ts'
import type { Context } from '../../http/handler.ts'
import { bigintText } from '../../money/row-fields.ts'
import { type FrozenRequest, resourceDigest } from '../../x402/challenge.ts'
import { timeoutSecondsMin } from '../../x402/offer.ts'
import { type PayableOffer, unpayableOf } from '../../x402/offers.ts'
import { isSponsored } from '../../x402/payload.ts'
import { notFunded, refuseBarred } from '../decide/not-payable.ts'
import { isUndecided, ownWallet, type Payment } from '../payment.ts'
import {
  openSignatures,
  type PaymentWithFacts,
  paymentWithFactsRow,
  reservedRow,
} from '../payment-with-facts.ts'
import { type AttemptTerms, freezeTerms } from './attempt-terms.ts'

/**
 * Seconds within which a prepared attempt can be executed: as long as an owner may need to approve it. Its
 * signature is valid only as long as the offer asks, and an offer that ended is rejected unpaid.
 */
const expiresInSeconds = 86_400

/** Number of offers whose chains are asked at once; the next ones only if these cannot be paid. */
const askedMax = 8

/** Amount of an offer's token that a wallet can still spend, or why it cannot pay the payee. */
type OfferFunds =
  | { tokenAtomic: bigint; freeAtomic: bigint }
  | { barred: Barred }
  | { reason: string }
  | 'silent'

/** Offer, with the funds of the wallet for it. */
type OfferWithFunds = { payable: PayableOffer; standing: OfferFunds }

type Refused = Refusal<
  | 'insufficient_funds'
  | 'recipient_refused'
  | 'invalid_challenge'
  | 'unsupported_scheme'
  | 'unavailable'
>

/** Request to pay for. `verifiedWithMerchant`: the service itself received the challenge. */
export type Purchase = {
  request: FrozenRequest
  facts: PurchaseFacts
  verifiedWithMerchant: boolean
  memo: string | undefined
}

/** Enters the best offer or, if the wallet cannot pay that one or has paid it, the next that it can pay. */
export async function enterAttempt(
  context: Context,
  offers: readonly PayableOffer[],
  purchase: Purchase,
): Promise<PaymentWithFacts | Refused> {
  const { facts } = purchase
  const candidates = refusedLast(offers, facts).filter(({ payTo }) => payTo !== facts.wallet)
  if (candidates.length === 0) return ownWallet
  const judged: OfferWithFunds[] = []
  let refused: Refused | undefined
  for await (const offer of payableInTurn(context, candidates, { facts, judged })) {
    const entered = await enterOffer(context, offer, purchase)
    if (!isRefusal(entered)) return entered
    refused ??= entered
  }
  return refused ?? unpayable(judged)
}

/** Yields the offers that the wallet can pay, then those on silent chains, which it may be able to pay. */
async function* payableInTurn(
  context: Context,
  candidates: readonly PayableOffer[],
  { facts, judged }: { facts: PurchaseFacts; judged: OfferWithFunds[] },
): AsyncGenerator<OfferWithFunds> {
  for (let from = 0; from < candidates.length; from += askedMax) {
    const silent = new Set(judged.filter(isSilent).map(({ payable }) => payable.chain.id))
    const asked = await Promise.all(
      candidates.slice(from, from + askedMax).map(async (payable): Promise<OfferWithFunds> => {
        if (silent.has(payable.chain.id)) return { payable, standing: 'silent' }
        return { payable, standing: await readOfferFunds(context, payable, facts) }
      }),
    )
    judged.push(...asked)
    yield* asked.filter(canPay)
  }
  yield* judged.filter(isSilent)
}

function canPay({ payable, standing }: OfferWithFunds): boolean {
  return hasFunds(standing) && payable.offer.amountAtomic <= standing.freeAtomic
}

function hasFunds(standing: OfferFunds): standing is Extract<OfferFunds, { freeAtomic: bigint }> {
  return standing !== 'silent' && 'freeAtomic' in standing
}

function isSilent({ standing }: OfferWithFunds): boolean {
  return standing === 'silent'
}

async function readOfferFunds(
  context: Context,
  payable: PayableOffer,
  facts: PurchaseFacts,
): Promise<OfferFunds> {
  const { wallet } = facts
  const { reservedAtomic, open } = reservedOf(facts, payable)
  const [seen, permit] = await Promise.all([
    readFunds(context, payable, { wallet, payee: payable.payTo }, open),
    permitFor(context, payable, wallet),
  ])
  if (permit?.status === 'not_allowed') return permit
  if (seen.status !== 'ok') return 'silent'
  if (seen.barred) return { barred: seen.barred }
  const { tokenAtomic } = seen
  return { tokenAtomic, freeAtomic: tokenAtomic - reservedAtomic }
}

function permitFor(context: Context, payable: PayableOffer, wallet: Payment['wallet']) {
  const { amountAtomic, extensions, scheme: name } = payable.offer
  if (payable.method !== 'permit2') return undefined
  const scheme = name === 'upto' ? name : 'exact'
  return allowanceFor(context, payable, { wallet, amountAtomic, extensions, scheme })
}

/** Returns why no offer can be paid: lack of funds, a bar by the issuer, or no allowance for Permit2. */
function unpayable(judged: readonly OfferWithFunds[]): Refused {
  const answered = judged.flatMap(({ payable, standing }) =>
    standing === 'silent' ? [] : [{ payable, standing }],
  )
  for (const { payable, standing } of answered) {
    if (!('freeAtomic' in standing)) continue
    return notFunded(payable, payable.offer.amountAtomic, standing.freeAtomic)
  }
  for (const { payable, standing } of answered) {
    if ('barred' in standing) return refuseBarred(standing.barred, payable.token.symbol)
  }
  const offers = answered.flatMap(({ payable: { offer }, standing }) =>
    'reason' in standing ? [unpayableOf(offer, standing.reason)] : [],
  )
  return fail('unsupported_scheme', { details: { offers } })
}

async function enterOffer(
  context: Context,
  { payable: chosen, standing }: OfferWithFunds,
  { request, verifiedWithMerchant, memo }: Purchase,
): Promise<PaymentWithFacts | Refusal<'invalid_challenge' | 'recipient_refused'>> {
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
    verified_with_merchant: verifiedWithMerchant,
    keyed: context.claim !== null,
    ...(memo === undefined ? {} : { memo }),
    ...(hasFunds(standing) ? { funds_atomic: standing.tokenAtomic.toString() } : {}),
    expires_in_seconds: Math.min(expiresInSeconds, secondsLeft(offer)),
    ...(offer.protocol === 'mpp' ? await challengeOf(offer, terms) : {}),
  }
  const entered = await context.db.one('begin_payment', question, paymentWithFactsRow)
  if (!entered) return ownWallet
  return isSame(entered, terms) ? entered : fail('invalid_challenge', answeredBefore)
}

/** Returns the seconds until an attempt expires. A challenge with an end must leave time to settle it. */
function secondsLeft({ expiresAtSeconds, maxTimeoutSeconds }: PayableOffer['offer']): number {
  return expiresAtSeconds === undefined
    ? expiresInSeconds
    : maxTimeoutSeconds - timeoutSecondsMin + 1
}

/**
 * Returns the claim and the nonce of an MPP challenge. It fixes the nonce, so an account signs it once,
 * whoever asks under it, and enters it once for an origin. The claim is a UUID version 8 of both.
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

/** True if the payment entered under the claim is this attempt and is still unpaid. */
function isSame(
  { payment_row: { state, terms } }: PaymentWithFacts,
  wanted: AttemptTerms,
): boolean {
  return isUndecided(state) && terms['request_digest'] === wanted.request_digest
}

const answeredBefore = {
  message: 'This challenge was prepared before, and it is good for one payment.',
  hint: 'Execute that attempt, or ask the resource for a new challenge.',
}

/**
 * Sorts offers so that those the merchant just refused for this resource come last. The same way to pay, at
 * another price or to another payee, comes before the identical offer.
 */
function refusedLast(
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

type Asset = Pick<PayableOffer, 'chain' | 'token'>

/** Reads the wallet's balance of one token, with what `open` ones took, and whether it may go to the payee. */
export function readFunds(
  { world }: Context,
  { chain, token }: Asset,
  { wallet, payee }: Pick<Payment, 'wallet' | 'payee'>,
  open: readonly OpenSignature[],
) {
  return readBalanceAndBar(world, chain, { token, wallet, payee }, open)
}

/** Payment by Permit2, with the extensions of the server that asks for it. */
type Permitted = {
  wallet: Payment['wallet']
  amountAtomic: bigint
  extensions: unknown
  scheme: Permit2Form['scheme']
}

/**
 * Reads whether Permit2 may take the amount: `covered` by the present allowance, or `sponsored` with an
 * EIP-2612 permit of this nonce, which the server sends on chain. `not_allowed` comes with its reason.
 */
export async function allowanceFor(
  context: Context,
  { chain, token }: Asset,
  { wallet, amountAtomic, extensions, scheme }: Permitted,
) {
  const spender = permit2Spenders[scheme]
  const seen = await readAllowance(context.world, chain, token, { wallet, spender })
  if (seen.status === 'unavailable') return seen
  if (seen.status === 'absent') {
    const reason = `Permit2 and the proxy of x402 are not both on ${chain.title}.`
    return { status: 'not_allowed' as const, reason }
  }
  if (seen.allowanceAtomic >= amountAtomic) return { status: 'covered' as const }
  if (!isSponsored(extensions)) return { status: 'not_allowed' as const, reason: notAllowed }
  return { status: 'sponsored' as const, allowanceNonce: seen.permitNonce.toString() }
}

const notAllowed =
  'Permit2 may not take this much from the wallet, and the server does not sponsor an allowance.'

const refusedWay = z.object({
  protocol: z.string().nullable(),
  scheme: z.string().nullable(),
  transfer_method: z.string().nullable(),
  payment_flow: z.string().nullable(),
  chain: z.int(),
  token: addressSchema,
  payee: addressSchema,
  amount_atomic: bigintText,
})

const purchaseFactsRow = z.object({
  wallet: addressSchema,
  /** Assets of which something is reserved. */
  reserved: z.array(reservedRow.extend({ chain: z.int(), token: addressSchema })),
  /** Ways to pay that the merchant refused for this resource a moment ago. */
  refused_ways: z.array(refusedWay),
})

/** Parsed answer of api.purchase_facts. */
type PurchaseFacts = z.output<typeof purchaseFactsRow>

/** Reads the facts for a request. */
export async function readPurchaseFacts(
  { db }: Context,
  request: FrozenRequest,
): Promise<PurchaseFacts> {
  const question = { resource: await resourceDigest(request) }
  const facts = await db.one('purchase_facts', question, purchaseFactsRow)
  if (!facts) throw new Error('an account has no wallet')
  return facts
}

/** Returns the amount that is reserved of an offer's token, with the signatures that reserve it. */
function reservedOf(
  { wallet, reserved }: PurchaseFacts,
  { chain, token }: Pick<PayableOffer, 'chain' | 'token'>,
): { reservedAtomic: bigint; open: OpenSignature[] } {
  const row = reserved.find((one) => one.chain === chain.id && one.token === token.address)
  if (!row) return { reservedAtomic: 0n, open: [] }
  const open = openSignatures({ wallet, token: token.address }, row)
  return { reservedAtomic: row.reserved_atomic, open }
}
