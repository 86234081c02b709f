import { fail, isRefusal } from '../../shared/contract/errors.ts'
import { unbound } from '../../shared/db/database.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import { executeAttempt, outcomeLost } from '../../shared/payments/attempt-execute.ts'
import { canSendAgain, outcomeBody } from '../../shared/payments/attempt-outcome.ts'
import { enteredRow } from '../../shared/payments/entered.ts'
import { judgeFor, refuseEnded } from '../../shared/payments/judge.ts'
import type { Payment } from '../../shared/payments/payment.ts'
import { watchPayment } from '../../shared/payments/watch.ts'
import type { x402PaymentExecute } from './contract.ts'

export const run: Handler<typeof x402PaymentExecute> = async (input, context) => {
  const device = await context.device()
  const question = { payment: input.attempt_id, kind: 'x402', device }
  const entered = await context.db.one('payment_facts', question, enteredRow)
  if (!entered) return fail('payment_not_found')
  const payment = entered.payment_row
  const ended = refuseEnded(entered, 'Prepare it again.')
  if (ended) return ended
  if (isDecided(payment)) {
    const seen = await look(context, payment).catch(outcomeLost(payment))
    if (isRefusal(seen)) return seen
    if (!canSendAgain(seen, new Date(entered.facts.now * 1000))) return outcomeBody(seen)
  }
  const judge = judgeFor(context, input.user_confirmed === true)
  const executed = await executeAttempt(context, entered, judge)
  if (isRefusal(executed)) return executed
  if (executed.outcome === 'done') return outcomeBody(await lookNow(context, executed.payment))
  return { ...outcomeBody(payment), status: 'awaiting_confirmation', ...executed.asked }
}

/** Whether the merchant was asked already: then the chain is looked at before anything is sent. */
function isDecided({ state, delivery }: Payment): boolean {
  return ['settled', 'failed', 'released'].includes(state) || (state === 'unknown' && !!delivery)
}

/** Looks at the chain for an attempt whose outcome is open, and books what it shows. */
async function look({ world }: Context, payment: Payment): Promise<Payment> {
  if (payment.state !== 'unknown') return payment
  return (await watchPayment(world, unbound(world.db), payment)).payment
}

/** The same for what was delivered just now; housekeeping looks again at what could not be read or booked. */
async function lookNow(context: Context, payment: Payment): Promise<Payment> {
  if (!payment.delivery) return payment
  try {
    return await look(context, payment)
  } catch (error) {
    context.world.log({ attempt: payment.id, log: String(error) })
    return payment
  }
}
