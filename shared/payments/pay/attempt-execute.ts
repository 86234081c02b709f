/**
 * Executes a prepared attempt: authorizes and signs once, sends the frozen request with the payment, and
 * stores the answer. A request that arrives while another one does this waits for the outcome. A later one
 * sends the same signature again or returns what is stored.
 */
import * as z from 'zod'
import { encodeBase64 } from '../../base64.ts'
import { wordSchema } from '../../chains/hex.ts'
import { assetOf } from '../../chains/registry.ts'
import { fail, isRefusal, type Refusal } from '../../contract/errors.ts'
import { formOf } from '../../custody/payment-form.ts'
import type { SignedPayment } from '../../custody/port.ts'
import { unbound } from '../../db/database.ts'
import type { Fetched } from '../../egress/safe-fetch.ts'
import type { Context } from '../../http/handler.ts'
import { piecesOf, sendPaid } from '../../x402/delivery.ts'
import { paymentHeaders } from '../../x402/payload.ts'
import type { DecisionMaker } from '../decide/judge.ts'
import { refuseBarred } from '../decide/not-payable.ts'
import { allowanceFor, readFunds } from '../enter/attempt.ts'
import { termsOf } from '../enter/attempt-terms.ts'
import { foundRow, type Payment, paymentRow } from '../payment.ts'
import { openSignatures, type PaymentWithFacts } from '../payment-with-facts.ts'
import { deliveryOf } from '../settle/attempt-delivery.ts'
import { outcomeLost } from '../settle/outcome-lost.ts'
import type { Executed } from '../settle/watch.ts'
import {
  authorizeConfirmed,
  authorizePayment,
  type SigningInputs,
  type SigningResult,
} from './authorize.ts'

/** Result of an execution: that, a confirmation to ask for, or a refusal. */
export type ExecutionResult =
  | Executed
  | (SigningResult & { outcome: 'confirm' })
  | Extract<SigningResult, Refusal>
  | Refusal<'terms_changed' | 'recipient_refused' | 'unavailable'>

/** Pays an attempt that waits for its agent's confirmation alone, without reading it first; undefined if it does not. */
export async function executeConfirmed(
  context: Context,
  attempt: string,
): Promise<Executed | Refusal<'unavailable'> | undefined> {
  const signed = await authorizeConfirmed(context, attempt)
  if (!signed?.authorization) return undefined
  const payment = paymentRow.parse(signed.row)
  return deliver(context, payment, signed.authorization).catch(outcomeLost(payment))
}

/** Takes an attempt as far as it can go now. */
export async function executeAttempt(
  context: Context,
  entered: PaymentWithFacts,
  decisionMaker: DecisionMaker,
): Promise<ExecutionResult> {
  const signing = await prepareSigning(context, entered)
  if (isRefusal(signing)) return (await takenFurther(context, entered)) ?? signing
  const authorized = await authorizePayment(context, entered, decisionMaker, signing)
  if (isRefusal(authorized) || authorized.outcome === 'confirm') {
    return (await takenFurther(context, entered)) ?? authorized
  }
  const { first, authorization, authorizedBlock: authorized_block } = authorized
  if (!first || !authorization) return waitForOutcome(context, entered.payment_row)
  const payment = { ...entered.payment_row, authorized_block }
  return deliver(context, payment, authorization).catch(outcomeLost(payment))
}

/**
 * Returns the outcome if another request of the caller paid the attempt since it was read. Another key's
 * outcome is shown to that key only.
 */
async function takenFurther(
  context: Context,
  { payment_row: { id } }: PaymentWithFacts,
): Promise<ExecutionResult | undefined> {
  const found = await context.db.one('find_payment', { payment: id }, ownedRow)
  if (!found?.is_own || isUnused(found.payment_row)) return undefined
  return waitForOutcome(context, found.payment_row)
}

const ownedRow = foundRow.extend({ is_own: z.boolean() })

/** True if nothing is reserved or signed for the payment, so that it can still be refused. */
function isUnused({ state }: Payment): boolean {
  return ['prepared', 'awaiting_confirmation', 'expired', 'declined'].includes(state)
}

async function prepareSigning(context: Context, entered: PaymentWithFacts) {
  const { payment_row: payment } = entered
  const funds = await fundsOf(context, entered)
  if (isRefusal(funds)) return funds
  const allowance = await allowanceOf(context, payment)
  if (isRefusal(allowance)) return allowance
  const signing: SigningInputs = { fundsAtomic: funds, ...allowance }
  return signing
}

/**
 * Returns the wallet's balance: as it was seen when the payment was entered, if that was a moment ago and is enough.
 * The chain refuses what lacks funds all the same. A payment that is reserved already needs none.
 */
async function fundsOf(context: Context, { payment_row: payment, facts }: PaymentWithFacts) {
  if (!isUnused(payment)) return 0n
  const { funds_atomic: funds } = facts
  if (funds !== null && funds - facts.reserved_atomic >= payment.amount_atomic) return funds
  const { chain, token } = assetOf(payment)
  const seen = await readFunds(context, { chain, token }, payment, openSignatures(payment, facts))
  if (seen.status !== 'ok') {
    return fail('unavailable', { message: `${chain.title} does not answer.`, log: seen.log })
  }
  return seen.barred ? refuseBarred(seen.barred, token.symbol) : seen.tokenAtomic
}

/** Returns the allowance that Permit2 needs beside a permit, if any. Never refuses what is signed. */
async function allowanceOf(context: Context, payment: Payment) {
  const { wallet, amount_atomic: amountAtomic } = payment
  const form = formOf(payment.terms)
  if (form.kind !== 'permit2' || !isUnused(payment)) return {}
  const { extensions } = termsOf(payment)
  const permitted = { wallet, amountAtomic, extensions, scheme: form.scheme }
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
  const slow = context.world.deadline(slowMilliseconds)
  slow.addEventListener('abort', () => void keepWaiting(context, payment), { once: true })
  const fetched = await sendPaid(context.world, terms.request, headers, terms.valid_seconds)
  const delivery = deliveryOf(payment, fetched, context.now())
  const db = unbound(context.world.db)
  const pieces = await keepPieces(context, payment, fetched)
  const question = { payment: payment.id, delivery: { ...delivery, ...pieces } }
  const storing = db.one('housekeeping_finish_attempt', question, foundRow)
  const stored = storing.then((finished) => finished?.payment_row ?? payment)
  const nonce = wordSchema.parse(authorization.nonce)
  const signed = { ...payment, authorization_nonce: nonce, delivery }
  return { outcome: 'delivered', payment: signed, stored }
}

/** Stores what an answer has beyond its first piece, and returns where it is. */
async function keepPieces({ world }: Context, { id: payment }: Payment, fetched: Fetched) {
  const answer =
    fetched.kind === 'answered' ? fetched : 'begun' in fetched ? fetched.begun : undefined
  const [, ...others] = piecesOf(answer?.body ?? new Uint8Array())
  if (others.length === 0) return {}
  const pieces = { answer: world.newId(), count: others.length + 1 }
  for (const [at, piece] of others.entries()) {
    const question = { payment, answer: pieces.answer, place: at + 1 }
    const body_base64 = encodeBase64(piece)
    await unbound(world.db).run('housekeeping_keep_piece', { ...question, body_base64 })
  }
  return { pieces }
}

/** Milliseconds after which the lease of a request that waits for its merchant has to be extended. */
const slowMilliseconds = 30_000

/**
 * Keeps others from asking the merchant too while it still works. If that fails, another request may send
 * the same signature, which settles once all the same.
 */
async function keepWaiting({ db, world, claim }: Context, { id }: Payment): Promise<void> {
  const failed = (error: unknown) => world.log({ attempt: id, log: String(error) })
  await db.run('keep_waiting', { payment: id, claim }).catch(failed)
}

/** Number of looks. If a slow merchant needs longer, the caller is told that the outcome is not known. */
const looksMax = 45
const lookEveryMilliseconds = 750
const firstLookMilliseconds = 50

/** Waits for a payment that another request signed. A failure here does not mean that it is unpaid. */
function waitForOutcome(context: Context, payment: Payment): Promise<ExecutionResult> {
  return lookForOutcome(context, payment).catch(outcomeLost(payment))
}

async function lookForOutcome(context: Context, payment: Payment): Promise<ExecutionResult> {
  let latest = payment
  let pause = firstLookMilliseconds
  for (let look = 0; look < looksMax; look += 1) {
    const found = await context.db.one('find_payment', { payment: payment.id }, foundRow)
    latest = found?.payment_row ?? latest
    if (latest.delivery || latest.state === 'released') break
    await context.world.pause(pause)
    pause = Math.min(pause * 2, lookEveryMilliseconds)
  }
  return { outcome: 'done', payment: latest }
}
