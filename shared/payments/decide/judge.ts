/**
 * Turns facts into a decision in its wire form: what is asked, of whom, what would pass, and the state of
 * the owner's decision.
 */
import * as z from 'zod'
import { assetOf } from '../../chains/registry.ts'
import { fail, type Refusal } from '../../contract/errors.ts'
import type { Context } from '../../http/handler.ts'
import { askerName } from '../../mail/asker.ts'
import { approvalWanted } from '../../mail/money-messages.ts'
import { type OutboxMail, sealForOutbox } from '../../mail/outbox.ts'
import { time } from '../../money/row-fields.ts'
import { type Decision, decide, headroom } from '../../policy/decide.ts'
import type { Facts, Window } from '../../policy/facts.ts'
import { leftOf } from '../../policy/mandate.ts'
import { changesThatPass, type Fits } from '../../policy/suggest.ts'
import { approvalUrl, confirmationBody } from '../confirmation.ts'
import { nextCall } from '../next-call.ts'
import { closingReason, type Payment } from '../payment.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'
import { agreedAmount, payeeName, purposeOf, reasonBody, uncoveredBody } from '../words.ts'
import { factsOf, isApproved } from './decision-facts.ts'
import { changeBody, hintOf, windowBody } from './limit-words.ts'

/** Functions that decide about payments in one call and tell the caller what is missing. */
export type DecisionMaker = {
  decide(entered: PaymentWithFacts): Promise<Decision>
  /** Returns the refusal of a payment that no confirmation can allow, with what would pass. */
  refuse(
    entered: PaymentWithFacts,
    decision: Decision & { verdict: 'refuse' },
  ): Promise<Refusal<'limit_exceeded'>>
  /** Marks the payment as waiting for a confirmation; returns what to tell the caller. */
  ask(
    entered: PaymentWithFacts,
    decision: Decision & { verdict: 'confirm' },
  ): Promise<ConfirmationRequest>
}

/**
 * Returns functions that judge by a payment's facts and the agent's claim that the user confirmed. With
 * `isContinued` the call names the payment, so it cannot be a second one by accident.
 */
export function decisionMakerFor(
  context: Context,
  isConfirmedByUser: boolean,
  isContinued = false,
): DecisionMaker {
  const factsIn = (entered: PaymentWithFacts) => factsOf(entered, isConfirmedByUser)
  return {
    decide: async (entered) => {
      const decision = decide(await factsIn(entered))
      const isDoubtful = entered.facts.is_paid_already && !(isConfirmedByUser && isContinued)
      return isDoubtful && isByAgent(decision) ? duplicate : decision
    },
    refuse: async (entered, decision) => {
      const reasons = decision.reasons.map(({ code }) => code)
      await context.db.run('note_refusal', { payment: entered.payment_row.id, reasons })
      const { hint, ...help } = await helpFor(context, entered, await factsIn(entered))
      return fail('limit_exceeded', { details: { ...whyNot(decision), ...help }, hint })
    },
    ask: async (entered, decision) =>
      askConfirmation(context, entered, await factsIn(entered), decision),
  }
}

/** True if a payment passes on nobody's word, or on the agent's. */
function isByAgent(decision: Decision): boolean {
  return decision.verdict === 'allow' && ['none', 'agent_asserted'].includes(decision.consentLevel)
}

/** Asks whether an equal payment is meant to be paid again. */
const duplicate: Decision = {
  verdict: 'confirm',
  neededLevel: 'agent_asserted',
  reasons: [{ code: 'possible_duplicate' }],
  mandates: [],
}

/** Confirmation that is asked for: from whom, why, and what else would pass. */
export type ConfirmationRequest = Awaited<ReturnType<typeof askConfirmation>>

async function askConfirmation(
  context: Context,
  entered: PaymentWithFacts,
  facts: Facts,
  decision: Decision & { verdict: 'confirm' },
) {
  const { payment_row: payment } = entered
  const { neededLevel } = decision
  const mail = neededLevel === 'agent_asserted' ? null : await mailToOwner(context, payment)
  const isAsked = payment.state === 'awaiting_confirmation' && payment.asked_level === neededLevel
  if (!isAsked || mail) {
    const question = { payment: payment.id, asked_level: neededLevel, mail }
    await context.db.run('await_confirmation', question)
  }
  if (mail) context.mailSoon()
  const asked = { ...payment, state: 'awaiting_confirmation' as const, asked_level: neededLevel }
  const approved = (await isApproved(entered)) ? 'approved' : null
  return {
    requires_user_confirm: true,
    ...whyNot(decision),
    ...(await helpFor(context, entered, facts)),
    confirmation: await confirmationBody(context.world.config, asked, approved, context.now()),
    next: nextCall(asked, approved !== null),
  }
}

function whyNot({ reasons, mandates }: Exclude<Decision, { verdict: 'allow' }>) {
  return { reasons: [...reasons.map(reasonBody), ...mandates.flatMap(uncoveredBody)] }
}

/** Returns the owner's mail, which has the payment's id: it is sent once, however often the agent asks. */
async function mailToOwner(context: Context, payment: Payment): Promise<OutboxMail> {
  const message = approvalWanted({
    amount: agreedAmount(payment),
    payee: payeeName(payment),
    address: `${payment.payee} on ${assetOf(payment).chain.title}`,
    asker: await askerName(context.db),
    purpose: purposeOf(payment).trim(),
    note: payment.memo,
    expiresAt: new Date(payment.expires_at),
    url: approvalUrl(context.world.config, payment),
  })
  return sealForOutbox(context.world, { ...message, id: payment.id })
}

async function helpFor(context: Context, entered: PaymentWithFacts, facts: Facts) {
  const { limits, caps } = entered.facts
  const fits = await fitsOf(context, entered)
  const changes = changesThatPass(facts, fits)
  const body = (window: Window, fit: Date | null) => ({
    ...windowBody(window),
    fits_at: fit?.toISOString() ?? null,
  })
  return {
    windows: {
      automatic_daily: body(limits.automatic_daily, fits.automaticDaily),
      asserted_daily: body(limits.asserted_daily, fits.assertedDaily),
      daily_spending_cap: body(limits.daily_spending_cap, fits.dailySpendingCap),
      monthly_spending_cap: body(limits.monthly_spending_cap, fits.monthlySpendingCap),
      ...(!entered.facts.recipient_known && {
        asserted_new_recipient: body(
          entered.facts.asserted_new_recipient,
          fits.assertedNewRecipient,
        ),
      }),
      ...(caps.daily && { credential_daily: body(caps.daily, fits.credentialDaily) }),
    },
    would_pass: changes.map(changeBody),
    hint: hintOf(changes, facts.userConfirmed),
  }
}

const fit = time.transform((text) => new Date(text)).nullable()
const fitsRow = z
  .object({
    automatic_daily: fit,
    asserted_daily: fit,
    asserted_new_recipient: fit,
    daily_spending_cap: fit,
    monthly_spending_cap: fit,
    credential_daily: fit,
    mandates: z.record(z.uuid(), fit),
  })
  .transform(({ mandates, ...row }) => ({
    automaticDaily: row.automatic_daily,
    assertedDaily: row.asserted_daily,
    assertedNewRecipient: row.asserted_new_recipient,
    dailySpendingCap: row.daily_spending_cap,
    monthlySpendingCap: row.monthly_spending_cap,
    credentialDaily: row.credential_daily,
    mandates,
  }))

/**
 * Returns when the amount fits into each window and each mandate's day. Asks the database only if it does
 * not fit now.
 */
async function fitsOf(
  context: Context,
  { payment_row: payment, facts }: PaymentWithFacts,
): Promise<Fits> {
  const room = [
    ...Object.values(facts.limits).map(headroom),
    headroom(facts.asserted_new_recipient),
    ...(facts.caps.daily ? [headroom(facts.caps.daily)] : []),
    ...facts.mandates.flatMap((mandate) => leftOf(mandate).day ?? []),
  ]
  const now = context.now()
  if (room.every((left) => payment.amount_usd_micros <= left))
    return {
      automaticDaily: now,
      assertedDaily: now,
      assertedNewRecipient: now,
      dailySpendingCap: now,
      monthlySpendingCap: now,
      credentialDaily: now,
    }
  const row = await context.db.one('payment_headroom', { payment: payment.id }, fitsRow)
  if (!row) throw new Error('an entered payment is gone')
  return row
}

/** Returns the refusal of a payment that was closed unused or is another key's to pay, or undefined. */
export function refuseEnded(
  entered: PaymentWithFacts,
  hint: string,
): Refusal<'payment_closed'> | undefined {
  const status = closingReason(entered.payment_row, entered.facts.now)
  if (status === undefined) return refuseOther(entered, hint)
  const { failure, decline_reason } = entered.payment_row
  const over =
    failure === null ? 'The payment expired unused.' : `The payment was closed: ${failure}.`
  const message = status === 'declined' ? 'The owner declined this payment.' : over
  const why = decline_reason === null ? {} : { decline_reason }
  const next = status === 'declined' ? 'Do not enter it again unless the user asks for it.' : hint
  return fail('payment_closed', {
    message,
    hint: next,
    details: { confirmation: { status, ...why } },
  })
}

/**
 * Returns the refusal for another key. The owner approved for the key or app that the page named, and only
 * the key that pays is told the outcome; another one has to ask anew.
 */
function refuseOther({ payment_row: { state }, facts }: PaymentWithFacts, hint: string) {
  if (facts.may_pay) return undefined
  const isOpen = state === 'prepared' || state === 'awaiting_confirmation'
  const { code, message: approved } = reasonBody({ code: 'other_key' })
  const message = isOpen
    ? approved
    : 'Another key or app pays this payment, and hears what comes of it.'
  return fail('payment_closed', { message, hint, details: { reasons: [{ code, message }] } })
}
