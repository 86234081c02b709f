import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import { decisionMakerFor, refuseEnded } from '../../shared/payments/decide/judge.ts'
import { executeAttempt, executeConfirmed } from '../../shared/payments/pay/attempt-execute.ts'
import {
  type PaymentWithFacts,
  paymentWithFactsRow,
} from '../../shared/payments/payment-with-facts.ts'
import { outcomeLost } from '../../shared/payments/settle/outcome-lost.ts'
import { type Executed, watchExecuted, watchOutcome } from '../../shared/payments/settle/watch.ts'
import {
  canSendAgain,
  hasBeenSent,
  outcomeBody,
  outcomeOf,
} from '../../shared/payments/show/attempt-outcome.ts'
import type { x402PaymentExecute } from './contract.ts'

/** Executes a prepared attempt. If the merchant was asked before, it reads the chain before it sends. */
export const run: Handler<typeof x402PaymentExecute> = async (input, context) => {
  const { attempt_id: attempt, response_piece: piece, user_confirmed: isConfirmed = false } = input
  const confirmed =
    isConfirmed && piece === undefined ? await executeConfirmed(context, attempt) : undefined
  if (confirmed) return isRefusal(confirmed) ? confirmed : executeAnswer(context, confirmed)
  const question = { payment: attempt, kind: 'x402', device: await context.device() }
  const entered = await context.db.one('payment_facts', question, paymentWithFactsRow)
  if (!entered) return fail('payment_not_found')
  const { payment_row: payment } = entered
  const answered =
    refuseEnded(entered, 'Prepare it again.') ?? (await keptOutcome(context, entered, piece))
  if (answered) return answered
  const decisionMaker = decisionMakerFor(context, isConfirmed, true)
  const executed = await executeAttempt(context, entered, decisionMaker)
  if (isRefusal(executed)) return executed
  if (executed.outcome !== 'confirm') return executeAnswer(context, executed)
  return { ...outcomeBody(payment), status: 'awaiting_confirmation', ...executed.asked }
}

/** Returns the answer about an attempt that was sent, or a piece of it; undefined if it is to be sent. */
async function keptOutcome(
  context: Context,
  { payment_row: payment, facts }: PaymentWithFacts,
  piece: number | undefined,
) {
  if (!hasBeenSent(payment) && piece === undefined) return undefined
  const seen = await watchOutcome(context.world, payment).catch(outcomeLost(payment))
  if (isRefusal(seen)) return seen
  const isToSend = piece === undefined && canSendAgain(seen, new Date(facts.now * 1000))
  return isToSend ? undefined : outcomeOf(context.db, seen, piece)
}

async function executeAnswer({ world }: Context, executed: Executed) {
  const seen = await watchExecuted(world, executed).catch(outcomeLost(executed.payment))
  return isRefusal(seen) ? seen : outcomeBody(seen)
}
