import { fail, isRefusal } from '../../shared/contract/errors.ts'
import { unbound } from '../../shared/db/database.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import { decisionMakerFor, refuseEnded } from '../../shared/payments/decide/judge.ts'
import { executeAttempt, outcomeLost } from '../../shared/payments/pay/attempt-execute.ts'
import type { Payment } from '../../shared/payments/payment.ts'
import { paymentWithFactsRow } from '../../shared/payments/payment-with-facts.ts'
import { watchDelivered, watchPayment } from '../../shared/payments/settle/watch.ts'
import { canSendAgain, outcomeBody, outcomeOf } from '../../shared/payments/show/attempt-outcome.ts'
import type { x402PaymentExecute } from './contract.ts'

/** Executes a prepared attempt. If the merchant was asked before, it reads the chain before it sends. */
export const run: Handler<typeof x402PaymentExecute> = async (input, context) => {
  const device = await context.device()
  const question = { payment: input.attempt_id, kind: 'x402', device }
  const entered = await context.db.one('payment_facts', question, paymentWithFactsRow)
  if (!entered) return fail('payment_not_found')
  const { payment_row: payment, facts } = entered
  const { response_piece: piece } = input
  const ended = refuseEnded(entered, 'Prepare it again.')
  if (ended) return ended
  if (hasBeenSent(payment) || piece !== undefined) {
    const seen = await readOutcome(context, payment).catch(outcomeLost(payment))
    if (isRefusal(seen)) return seen
    const isToSend = piece === undefined && canSendAgain(seen, new Date(facts.now * 1000))
    if (!isToSend) return outcomeOf(context.db, seen, piece)
  }
  const decisionMaker = decisionMakerFor(context, input.user_confirmed === true, true)
  const executed = await executeAttempt(context, entered, decisionMaker)
  if (isRefusal(executed)) return executed
  if (executed.outcome === 'delivered') {
    const { payment: signed, stored } = executed
    const seen = await watchDelivered(context.world, signed, stored).catch(outcomeLost(signed))
    return isRefusal(seen) ? seen : outcomeBody(seen)
  }
  if (executed.outcome === 'done') {
    const { payment: latest } = executed
    return outcomeBody(await readOutcome(context, latest).catch(() => latest))
  }
  return { ...outcomeBody(payment), status: 'awaiting_confirmation', ...executed.asked }
}

/** True if the merchant was already asked; then the chain is read before anything is sent. */
function hasBeenSent({ state, delivery }: Payment): boolean {
  return state === 'settled' || state === 'released' || (state === 'unknown' && !!delivery)
}

/** Reads the chain for a purchase that its merchant answered, whose outcome is open. */
async function readOutcome({ world }: Context, payment: Payment): Promise<Payment> {
  if (payment.state !== 'unknown') return payment
  return (await watchPayment(world, unbound(world.db), payment)).payment
}
