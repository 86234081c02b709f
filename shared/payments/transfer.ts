/**
 * A transfer from entry to broadcast. One round trip to the chain tells what it is decided and
 * priced from, before anything is reserved; what custody signed is stored before it is broadcast,
 * and an outcome that is not known is `submitted`, never `failed`.
 */
import type { Preflight } from '../chains/evm/preflight.ts'
import { readPreflight } from '../chains/evm/preflight.ts'
import { assetOf } from '../chains/registry.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import type { Context } from '../http/handler.ts'
import type { Authorized, Signing } from './authorize.ts'
import { authorizePayment } from './authorize.ts'
import type { Entered } from './entered.ts'
import type { Judge } from './judge.ts'
import { notFunded } from './not-funded.ts'
import { fundedLanes, sendAndRelay } from './relay.ts'

/** A relayed authorization is good for ten minutes, which bounds how long it can stay unknown. */
const validSeconds = 600

/** Decides, signs and broadcasts; answers what custody said. */
export async function sendTransfer(
  context: Context,
  entered: Entered,
  judge: Judge,
): Promise<Authorized | Refusal<'recipient_refused'>> {
  const signing = await prepareSigning(context, entered)
  if (isRefusal(signing)) return signing
  const authorized = await authorizePayment(context, entered, judge, signing)
  if (!isRefusal(authorized) && authorized.outcome === 'signed' && authorized.first) {
    const { chain } = assetOf(entered.payment_row)
    await sendAndRelay(context.world, chain, authorized, signing.relay)
  }
  return authorized
}

async function prepareSigning(context: Context, entered: Entered) {
  const { payment_row: payment, facts } = entered
  const { chain, token } = assetOf(payment)
  const { wallet, payee } = payment
  const lanes = facts.lanes.map(({ address }) => address)
  const seen = await readPreflight(context.world, chain, { token, wallet, payee, lanes })
  if (seen.status === 'unavailable') {
    return fail('unavailable', { message: `${chain.title} does not answer.`, log: seen.log })
  }
  if (!seen.domainMatches) {
    return fail('unavailable', { log: `${token.address} signs under another domain` })
  }
  if (seen.barred) return refuseBarred(seen.barred, token.symbol)
  const own = payment.state === 'authorized' ? payment.amount_atomic : 0n
  const free = seen.tokenAtomic - (facts.reserved_atomic - own)
  if (free >= payment.amount_atomic) return signingFrom(entered, seen)
  const isReserved = seen.tokenAtomic >= payment.amount_atomic
  return notFunded({ chain, token }, payment.amount_atomic, free, isReserved ? reservedHint : {})
}

/** A payment that was mined a moment ago is counted twice until it is booked. */
const reservedHint = {
  hint: 'Part of the balance is reserved by payments that are not booked as settled yet.',
  retryAfterSeconds: 5,
}

function refuseBarred(barred: NonNullable<Preflight['barred']>, symbol: string) {
  if (barred === 'payee') {
    return fail('recipient_refused', { message: `The issuer of ${symbol} bars this recipient.` })
  }
  const message =
    barred === 'paused'
      ? `The issuer of ${symbol} has paused all transfers on this chain.`
      : `The issuer of ${symbol} bars this wallet.`
  return fail('unavailable', { message, hint: 'Try again later, or pay on another chain.' })
}

/** Who pays for gas: a relayer that can, else the wallet itself, else nobody. */
function signingFrom({ facts }: Entered, seen: Preflight) {
  const lanes = fundedLanes(facts.lanes, seen)
  if (lanes.length === 0 && seen.walletWei < seen.directCostWei) {
    return fail('unavailable', {
      message: 'No relayer can pay for gas on this chain now, and the wallet holds none itself.',
      hint: 'Try again later, or fund the wallet with the native coin of the chain.',
    })
  }
  // Of the two clocks that judge it, the later: a chain without traffic may lag behind.
  const chainSeconds = Number(seen.blockTimestampSeconds)
  const relay: NonNullable<Signing['relay']> = {
    maxFeePerGas: seen.maxFeePerGas.toString(),
    maxPriorityFeePerGas: seen.maxPriorityFeePerGas.toString(),
    gasFrom: lanes.length > 0 ? 'relayer' : 'wallet',
    walletNonce: seen.walletNonce,
    lanes,
  }
  return {
    fundsAtomic: seen.tokenAtomic,
    seenBlock: Number(seen.blockNumber),
    validAfter: 0,
    validBefore: Math.max(chainSeconds, facts.now) + validSeconds,
    relay,
  }
}
