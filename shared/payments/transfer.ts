/**
 * A transfer from entry to broadcast. One round trip to the chain tells what it is decided and
 * priced from, before anything is reserved; what custody signed is stored before it is broadcast,
 * and an outcome that is not known is `submitted`, never `failed`.
 */
import { broadcast } from '../chains/evm/broadcast.ts'
import type { Preflight } from '../chains/evm/preflight.ts'
import { readPreflight } from '../chains/evm/preflight.ts'
import type { Hex } from '../chains/hex.ts'
import { assetOf } from '../chains/registry.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import type { Context } from '../http/handler.ts'
import type { Authorized, Signing } from './authorize.ts'
import { authorizePayment } from './authorize.ts'
import { notFunded } from './not-funded.ts'
import type { Entered } from './payment.ts'

/** A relayed authorization is good for ten minutes, which bounds how long it can stay unknown. */
const validSeconds = 600

/** Decides, signs and broadcasts; answers what custody said. */
export async function sendTransfer(
  context: Context,
  entered: Entered,
  isConfirmedByUser: boolean,
): Promise<Authorized> {
  const signing = await prepareSigning(context, entered)
  if (isRefusal(signing)) return signing
  const authorized = await authorizePayment(context, entered, isConfirmedByUser, signing)
  if ('outcome' in authorized && authorized.outcome === 'signed' && authorized.first) {
    await send(context, entered, authorized.transaction?.raw)
  }
  return authorized
}

async function prepareSigning(context: Context, { payment_row: payment, facts }: Entered) {
  const { chain, token } = assetOf(payment)
  const seen = await readPreflight(context.world, chain, {
    token,
    wallet: payment.wallet,
    withNonce: true,
    ...(facts.relayer === null ? {} : { lane: facts.relayer }),
  })
  if (seen.status === 'unavailable') {
    return fail('unavailable', { message: `${chain.title} does not answer.`, log: seen.log })
  }
  if (!seen.domainMatches) {
    return fail('unavailable', { log: `${token.address} signs under another domain` })
  }
  const own = payment.state === 'authorized' ? payment.amount_atomic : 0n
  const free = seen.tokenAtomic - (facts.reserved_atomic - own)
  if (free >= payment.amount_atomic) return signingFrom(context, seen)
  const isReserved = seen.tokenAtomic >= payment.amount_atomic
  return notFunded({ chain, token }, payment.amount_atomic, free, isReserved ? reservedHint : {})
}

/** A payment that was mined a moment ago is counted twice until it is booked. */
const reservedHint = {
  hint: 'Part of the balance is reserved by payments that are not booked as settled yet.',
  retryAfterSeconds: 5,
}

/** Who pays for gas: the relayer while it can, else the wallet itself, else nobody. */
function signingFrom(context: Context, seen: Preflight) {
  const hasRelayer = seen.laneWei !== undefined && seen.laneWei >= seen.relayedCostWei
  if (!hasRelayer && seen.walletWei < seen.directCostWei) {
    return fail('unavailable', {
      message: 'No relayer can pay for gas on this chain now, and the wallet holds none itself.',
      hint: 'Try again later, or fund the wallet with the native coin of the chain.',
    })
  }
  const nowSeconds = Math.floor(context.now().getTime() / 1000)
  const signing: Signing = {
    fundsAtomic: seen.tokenAtomic,
    seenBlock: Number(seen.blockNumber),
    validAfter: 0,
    validBefore: nowSeconds + validSeconds,
    relay: {
      maxFeePerGas: seen.maxFeePerGas.toString(),
      maxPriorityFeePerGas: seen.maxPriorityFeePerGas.toString(),
      gasFrom: hasRelayer ? 'relayer' : 'wallet',
      walletNonce: seen.walletNonce ?? 0,
    },
  }
  return signing
}

async function send(context: Context, entered: Entered, raw: Hex | undefined): Promise<void> {
  if (raw === undefined) return
  const { chain } = assetOf(entered.payment_row)
  const { outcome, message } = await broadcast(context.world, chain, raw)
  if (outcome === 'accepted' || outcome === 'known') return
  // The bytes are stored: the scheduled function sends them again until the chain decides.
  context.world.log({
    requestId: context.requestId,
    payment: entered.payment_row.id,
    broadcast: outcome,
    log: message ?? '',
  })
}
