/**
 * Executes a prepared attempt: authorizes and signs once, sends the frozen request with the payment,
 * and judges the outcome from the chain. Who comes while another request is at it waits for its
 * outcome; a later call sends the same signature again or answers what is kept.
 */
import { wordSchema } from '../chains/hex.ts'
import { assetOf } from '../chains/registry.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { SignedPayment } from '../custody/port.ts'
import { unbound } from '../db/database.ts'
import type { Fetched } from '../egress/safe-fetch.ts'
import type { Context } from '../http/handler.ts'
import { readSettlementClaim } from '../x402/claim.ts'
import { sendPaid } from '../x402/delivery.ts'
import { paymentHeader } from '../x402/payload.ts'
import { validityOf } from '../x402/validity.ts'
import { allowanceFor, heldOf, notAllowed, readFunds } from './attempt-funds.ts'
import { deliveryOf } from './attempt-outcome.ts'
import { termsOf } from './attempt-terms.ts'
import type { Authorized, Signing } from './authorize.ts'
import { authorizePayment } from './authorize.ts'
import type { Entered } from './entered.ts'
import { proveAttempt } from './fate.ts'
import type { Judge } from './judge.ts'
import type { Payment } from './payment.ts'
import { foundRow } from './payment.ts'

/** How far it went: an outcome to tell, a confirmation to ask for, or a refusal. */
export type Executed =
  | { outcome: 'done'; payment: Payment }
  | (Authorized & { outcome: 'confirm' })
  | Extract<Authorized, Refusal>
  | Refusal<'terms_changed'>

/** Takes an attempt as far as it goes now. */
export async function executeAttempt(
  context: Context,
  entered: Entered,
  judge: Judge,
): Promise<Executed> {
  const signing = await prepareSigning(context, entered)
  if (isRefusal(signing)) return (await takenFurther(context, entered)) ?? signing
  const authorized = await authorizePayment(context, entered, judge, signing)
  if (isRefusal(authorized) || authorized.outcome === 'confirm') {
    return (await takenFurther(context, entered)) ?? authorized
  }
  const { first, authorization } = authorized
  if (!first || !authorization) return waitForOutcome(context, entered.payment_row)
  return deliver(context, entered.payment_row, authorization)
}

/** Another request may have paid the attempt since it was read; its outcome is then the answer. */
async function takenFurther(
  context: Context,
  { payment_row: { id } }: Entered,
): Promise<Executed | undefined> {
  const found = await context.db.one('find_payment', { payment: id }, foundRow)
  const payment = found?.payment_row
  const isUnused = !payment || unusedStates.includes(payment.state)
  return isUnused ? undefined : waitForOutcome(context, payment)
}

const unusedStates = ['prepared', 'awaiting_confirmation', 'expired', 'declined']

async function prepareSigning(context: Context, { payment_row: payment, facts }: Entered) {
  const { chain, token } = assetOf(payment)
  const terms = termsOf(payment)
  const seen = await readFunds(context, payment.wallet, chain, token)
  if (seen.status !== 'ok') {
    return fail('unavailable', { message: `${chain.title} does not answer.`, log: seen.log })
  }
  const allowance = await allowanceOf(context, payment)
  if (isRefusal(allowance)) return allowance
  const signing: Signing = {
    fundsAtomic: heldOf(seen),
    seenBlock: Number(seen.blockNumber),
    ...allowance,
    ...validityOf(terms, facts.now, terms.valid_seconds, terms.valid_until),
  }
  return signing
}

/** What Permit2 needs beside a permit, if anything; what is signed already is never refused. */
async function allowanceOf(context: Context, payment: Payment) {
  const { wallet, amount_atomic: amountAtomic, terms, state } = payment
  if (!permit2Of(terms) || !unusedStates.includes(state)) return {}
  const { extensions } = termsOf(payment)
  const asset = assetOf(payment)
  const allowance = await allowanceFor(context, asset, { wallet, amountAtomic, extensions })
  if (allowance.status === 'unavailable') return fail('unavailable', { log: allowance.log })
  if (allowance.status === 'not_allowed') return fail('terms_changed', { message: notAllowed })
  return allowance.status === 'sponsored' ? { allowanceNonce: allowance.allowanceNonce } : {}
}

async function deliver(
  context: Context,
  payment: Payment,
  authorization: SignedPayment,
): Promise<Executed> {
  const terms = termsOf(payment)
  const header = paymentHeader(terms, authorization)
  const fetched = await sendPaid(context.world, terms.request, header)
  const nonce = wordSchema.parse(authorization.nonce)
  const settled = await proveAttempt(context.world, payment, nonce, claimedHash(fetched))
  const question = {
    ...(settled ?? { payment: payment.id }),
    delivery: deliveryOf(payment, fetched, context.now()),
  }
  try {
    const finished = await unbound(context.world.db).one(
      'housekeeping_finish_attempt',
      question,
      foundRow,
    )
    return { outcome: 'done', payment: finished?.payment_row ?? payment }
  } catch (error) {
    return outcomeLost(error)
  }
}

/** Money may have moved by now, so no answer may say that nothing was changed. */
function outcomeLost(error: unknown): Refusal<'unavailable'> {
  return fail('unavailable', {
    message: 'The payment was sent, but its outcome could not be kept.',
    hint: 'Execute the same attempt again: the same signature is sent again, never another.',
    retryAfterSeconds: 60,
    log: `the outcome of an attempt was lost: ${String(error)}`,
  })
}

/** Where the merchant says the settlement is; only the chain tells whether it is there. */
function claimedHash(fetched: Fetched) {
  if (fetched.kind !== 'answered') return null
  return readSettlementClaim(fetched.headers)?.transaction ?? null
}

/** Longer than a delivery may take, so the wait ends with its outcome. */
const looksMax = 45
const lookEveryMilliseconds = 750
const firstLookMilliseconds = 50

async function waitForOutcome(context: Context, payment: Payment): Promise<Executed> {
  let latest = payment
  let pause = firstLookMilliseconds
  for (let look = 0; look < looksMax; look += 1) {
    const found = await context.db.one('find_payment', { payment: payment.id }, foundRow)
    latest = found?.payment_row ?? latest
    if (latest.delivery || ['settled', 'failed', 'released'].includes(latest.state)) break
    await context.world.pause(pause)
    pause = Math.min(pause * 2, lookEveryMilliseconds)
  }
  return { outcome: 'done', payment: latest }
}
