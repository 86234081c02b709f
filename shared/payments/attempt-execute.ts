/**
 * Executes a prepared attempt: authorizes and signs once, sends the frozen request with the payment,
 * and judges the outcome from the chain. Who comes while another request is at it waits for its
 * outcome; a later call sends the same signature again or answers what is kept.
 */
import * as z from 'zod'
import { agreedBar } from '../chains/evm/agreed-bars.ts'
import { readGasPrice } from '../chains/evm/gas-price.ts'
import { assetOf } from '../chains/registry.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal, Rejection } from '../contract/errors.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { SignedPayment } from '../custody/port.ts'
import { unbound } from '../db/database.ts'
import type { Context } from '../http/handler.ts'
import { sendPaid } from '../x402/delivery.ts'
import { paymentHeaders } from '../x402/payload.ts'
import { validityOf } from '../x402/validity.ts'
import { deliveryOf } from './attempt-delivery.ts'
import { allowanceFor, readFunds } from './attempt-funds.ts'
import { termsOf } from './attempt-terms.ts'
import type { Authorized, Signing } from './authorize.ts'
import { authorizePayment } from './authorize.ts'
import { refuseBarred } from './barred.ts'
import type { Entered } from './entered.ts'
import { gasOf } from './gas.ts'
import type { Judge } from './judge.ts'
import type { Payment } from './payment.ts'
import { foundRow } from './payment.ts'

/** How far it went: an outcome to tell, a confirmation to ask for, or a refusal. */
export type Executed =
  | { outcome: 'done'; payment: Payment }
  | (Authorized & { outcome: 'confirm' })
  | Extract<Authorized, Refusal>
  | Refusal<'terms_changed' | 'recipient_refused' | 'unavailable'>

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
  return deliver(context, entered.payment_row, authorization).catch(
    outcomeLost(entered.payment_row),
  )
}

/**
 * Another request of the caller's may have paid the attempt since it was read; its outcome is then the
 * answer. What another key of the account was answered is that one's.
 */
async function takenFurther(
  context: Context,
  { payment_row: { id } }: Entered,
): Promise<Executed | undefined> {
  const found = await context.db.one('find_payment', { payment: id }, ownedRow)
  if (!found?.is_own || isUnused(found.payment_row)) return undefined
  return waitForOutcome(context, found.payment_row)
}

const ownedRow = foundRow.extend({ is_own: z.boolean() })

/** Whether nothing is reserved or signed for it, so that it can still be refused. */
function isUnused({ state }: Payment): boolean {
  return ['prepared', 'awaiting_confirmation', 'expired', 'declined'].includes(state)
}

async function prepareSigning(context: Context, { payment_row: payment, facts }: Entered) {
  const { chain, token } = assetOf(payment)
  const terms = termsOf(payment)
  const [seen, gas] = await Promise.all([
    readFunds(context, { chain, token }, payment),
    readGasPrice(context.world, chain, facts.gas.seen ?? undefined),
  ])
  if (seen.status !== 'ok' || gas.status !== 'ok') {
    const log = 'log' in seen ? seen.log : 'log' in gas ? gas.log : ''
    return fail('unavailable', { message: `${chain.title} does not answer.`, log })
  }
  if (isUnused(payment)) {
    const parties = { token, wallet: payment.wallet, payee: payment.payee }
    const barred = await agreedBar(context.world, chain, parties, seen.barred)
    if (barred) return refuseBarred(barred, token.symbol)
  }
  const allowance = await allowanceOf(context, payment)
  if (isRefusal(allowance)) return allowance
  const signing: Signing = {
    fundsAtomic: seen.tokenAtomic,
    seenBlock: gas.seenBlock,
    gas: gasOf(payment, gas),
    ...allowance,
    ...validityOf(terms, facts.now, terms.valid_seconds, terms.valid_until),
  }
  return signing
}

/** What Permit2 needs beside a permit, if anything; what is signed already is never refused. */
async function allowanceOf(context: Context, payment: Payment) {
  const { wallet, amount_atomic: amountAtomic } = payment
  const permit = permit2Of(payment.terms)
  if (!permit || !isUnused(payment)) return {}
  const { extensions } = termsOf(payment)
  const permitted = { wallet, amountAtomic, extensions, scheme: permit.scheme }
  const allowance = await allowanceFor(context, assetOf(payment), permitted)
  if (allowance.status === 'unavailable') return fail('unavailable', { log: allowance.log })
  if (allowance.status === 'not_allowed')
    return fail('terms_changed', { message: allowance.reason })
  return allowance.status === 'sponsored' ? { allowanceNonce: allowance.allowanceNonce } : {}
}

async function deliver(
  context: Context,
  payment: Payment,
  authorization: SignedPayment,
): Promise<Executed> {
  const terms = termsOf(payment)
  const headers = paymentHeaders(terms, authorization)
  await context.db.run('confirm_payer', {})
  const fetched = await sendPaid(context.world, terms.request, headers)
  // Kept before anything is asked of the chain, which may be slow, away or wrong about the rest.
  const delivery = deliveryOf(payment, fetched, context.now())
  const db = unbound(context.world.db)
  const question = { payment: payment.id, delivery }
  const finished = await db.one('housekeeping_finish_attempt', question, foundRow)
  return { outcome: 'done', payment: finished?.payment_row ?? payment }
}

/** Money may have moved by now, so no answer may say that nothing was changed, or leave out its id. */
export function outcomeLost({ id }: Payment) {
  return (error: unknown): Refusal<'unavailable'> => {
    // A key that was revoked, or asks too often, hears that.
    if (error instanceof Rejection && error.refusal.refusal !== 'unavailable') throw error
    return fail('unavailable', {
      message: 'The payment was signed and sent, but its outcome could not be kept or read.',
      hint: 'Execute the same attempt again: the same signature is sent again, never another.',
      details: { attempt_id: id },
      retryAfterSeconds: 60,
      log: `the outcome of an attempt was lost: ${String(error)}`,
    })
  }
}

/** Longer than a delivery may take, so the wait ends with its outcome. */
const looksMax = 45
const lookEveryMilliseconds = 750
const firstLookMilliseconds = 50

/** Another request has signed it, so nothing that fails here means that nothing was paid. */
function waitForOutcome(context: Context, payment: Payment): Promise<Executed> {
  return lookForOutcome(context, payment).catch(outcomeLost(payment))
}

async function lookForOutcome(context: Context, payment: Payment): Promise<Executed> {
  let latest = payment
  let pause = firstLookMilliseconds
  for (let look = 0; look < looksMax; look += 1) {
    const found = await context.db.one('find_payment', { payment: payment.id }, foundRow)
    latest = found?.payment_row ?? latest
    if (latest.delivery || ['settled', 'released'].includes(latest.state)) break
    await context.world.pause(pause)
    pause = Math.min(pause * 2, lookEveryMilliseconds)
  }
  return { outcome: 'done', payment: latest }
}
