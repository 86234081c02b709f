/**
 * From facts to a decision in the words of the wire: what is asked, of whom, what would pass, and
 * where the owner's word stands.
 */
import * as z from 'zod'
import { assetOf } from '../chains/registry.ts'
import { digestOf, paymentTerms } from '../consent/terms.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import { time } from '../db/row-fields.ts'
import type { Context } from '../http/handler.ts'
import { approvalWanted } from '../mail/money-messages.ts'
import type { SealedMail } from '../mail/outbox.ts'
import { sealMail } from '../mail/outbox.ts'
import { formatAmount } from '../money/amount.ts'
import type { Decision } from '../policy/decide.ts'
import { decide, headroom } from '../policy/decide.ts'
import type { ConsentLevel, Facts, Window } from '../policy/facts.ts'
import { leftOf } from '../policy/mandate.ts'
import type { Fits } from '../policy/suggest.ts'
import { changesThatPass } from '../policy/suggest.ts'
import type { World } from '../world.ts'
import { factsOf, isApproved } from './decision-facts.ts'
import type { Entered } from './entered.ts'
import { endOf } from './entered.ts'
import { changeBody, hintOf, windowBody } from './limit-words.ts'
import type { Payment } from './payment.ts'
import { reasonBody, uncoveredBody } from './words.ts'

/** What decides about payments in one call, and tells the caller what is missing. */
export type Judge = {
  decide(entered: Entered): Promise<Decision>
  /** The refusal of a payment that no confirmation can carry, with what would pass. */
  refuse(
    entered: Entered,
    decision: Decision & { verdict: 'refuse' },
  ): Promise<Refusal<'limit_exceeded'>>
  /** Has the payment wait for somebody's word; answers what to tell the caller. */
  ask(entered: Entered, decision: Decision & { verdict: 'confirm' }): Promise<Asked>
}

/** Judges by the facts of each payment and the agent's word whether the user confirmed. */
export function judgeFor(context: Context, isConfirmedByUser: boolean): Judge {
  const factsIn = (entered: Entered) => factsOf(entered, isConfirmedByUser)
  return {
    decide: async (entered) => decide(await factsIn(entered)),
    refuse: async (entered, decision) => {
      const { hint, ...help } = await helpFor(context, entered, await factsIn(entered))
      return fail('limit_exceeded', { details: { ...whyNot(decision), ...help }, hint })
    },
    ask: async (entered, decision) =>
      askConfirmation(context, entered, await factsIn(entered), decision),
  }
}

/** A confirmation that is asked for: of whom, why, and what would pass besides. */
export type Asked = Awaited<ReturnType<typeof askConfirmation>>

async function askConfirmation(
  context: Context,
  entered: Entered,
  facts: Facts,
  decision: Decision & { verdict: 'confirm' },
) {
  const { payment_row: payment } = entered
  const { neededLevel } = decision
  const mail = neededLevel === 'agent_asserted' ? null : await mailToOwner(context, payment)
  await context.db.run('await_confirmation', { payment: payment.id, mail })
  if (mail) context.mailSoon()
  return {
    requires_user_confirm: true,
    ...whyNot(decision),
    ...(await helpFor(context, entered, facts)),
    confirmation: await confirmationOf(context, entered, neededLevel),
  }
}

function whyNot({ reasons, mandates }: Exclude<Decision, { verdict: 'allow' }>) {
  return { reasons: [...reasons.map(reasonBody), ...mandates.flatMap(uncoveredBody)] }
}

/** A payment is told to its owner in one mail, however often the agent asks. */
async function mailToOwner({ world }: Context, payment: Payment): Promise<SealedMail> {
  const { chain, token } = assetOf(payment)
  const message = approvalWanted({
    amount: `${formatAmount(payment.amount_atomic, token.decimals)} ${token.symbol}`,
    recipient: `${payment.payee} on ${chain.title}`,
    expiresAt: new Date(payment.expires_at),
    url: approvalUrl(world, payment),
  })
  return sealMail(world, { ...message, id: payment.id })
}

function approvalUrl({ config }: World, { id }: Payment): string {
  return `${config.WEB_URL}/approve/${id}`
}

async function helpFor(context: Context, entered: Entered, facts: Facts) {
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
    credential_daily: fit,
    mandates: z.record(z.uuid(), fit),
  })
  .transform(({ mandates, ...row }) => ({
    automaticDaily: row.automatic_daily,
    assertedDaily: row.asserted_daily,
    assertedNewRecipient: row.asserted_new_recipient,
    dailySpendingCap: row.daily_spending_cap,
    credentialDaily: row.credential_daily,
    mandates,
  }))

/**
 * When the amount fits into each window and each mandate's day; the database is asked only where it
 * does not fit now.
 */
async function fitsOf(context: Context, { payment_row: payment, facts }: Entered): Promise<Fits> {
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
      credentialDaily: now,
    }
  const row = await context.db.one('payment_headroom', { payment: payment.id }, fitsRow)
  if (!row) throw new Error('an entered payment is gone')
  return row
}

/** Where a confirmation stands (INTERFACE `confirmation`). */
async function confirmationOf({ world }: Context, entered: Entered, level: ConsentLevel) {
  const { payment_row: payment } = entered
  return {
    level,
    digest: await digestOf(paymentTerms(payment)),
    expires_at: payment.expires_at,
    status: (await isApproved(entered)) ? ('approved' as const) : ('pending' as const),
    url: approvalUrl(world, payment),
  }
}

/** The refusal of what was closed unused, or is another key's to pay; undefined for any other. */
export function refuseEnded(entered: Entered, hint: string): Refusal<'payment_closed'> | undefined {
  const status = endOf(entered)
  if (status === undefined) return refuseOther(entered, hint)
  const message =
    status === 'declined' ? 'The owner declined this payment.' : 'The payment expired unused.'
  const next = status === 'declined' ? 'Do not enter it again unless the user asks for it.' : hint
  return fail('payment_closed', { message, hint: next, details: { confirmation: { status } } })
}

/**
 * What the owner approved is for the key or app that the page named, and what is paid for is answered to the
 * one that pays; another has to ask anew.
 */
function refuseOther({ payment_row: { state }, facts }: Entered, hint: string) {
  if (facts.may_pay) return undefined
  const isOpen = state === 'prepared' || state === 'awaiting_confirmation'
  const { code, message: approved } = reasonBody({ code: 'other_key' })
  const message = isOpen
    ? approved
    : 'Another key or app pays this payment, and hears what comes of it.'
  return fail('payment_closed', { message, hint, details: { reasons: [{ code, message }] } })
}
