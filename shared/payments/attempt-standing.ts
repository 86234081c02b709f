/**
 * Which offers a wallet can pay, by what the chains say of its funds, its payee and Permit2. Chains are
 * asked about a few offers at a time, and a silent one once.
 */
import { agreedBar } from '../chains/evm/agreed-bars.ts'
import type { Barred } from '../chains/evm/bars.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import type { Context } from '../http/handler.ts'
import type { PayableOffer } from '../x402/offers.ts'
import { unpayableOf } from '../x402/offers.ts'
import { allowanceFor, readFunds } from './attempt-funds.ts'
import { refuseBarred } from './barred.ts'
import type { Entered } from './entered.ts'
import { notFunded } from './not-funded.ts'
import type { Payment } from './payment.ts'

/** Offers that the chains are asked about at once; the next ones only when none of these can be paid. */
const askedMax = 8

/** What a wallet can still spend of an offer's token, or why none of it can go to the payee. */
type Standing = { freeAtomic: bigint } | { barred: Barred } | { reason: string } | 'silent'

/** An offer with its standing. */
export type Judged = { payable: PayableOffer; standing: Standing }

/** Yields what the wallet can pay, and then what is on a chain that is silent: it may be able to. */
export async function* payableInTurn(
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
export function unpayable(
  judged: readonly Judged[],
): Refusal<'insufficient_funds' | 'recipient_refused' | 'unsupported_scheme' | 'unavailable'> {
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
