/**
 * Freezes an account. Once SQL has answered, nothing more is reserved, signed or sent. What left before can
 * be used by whoever has it until it ends, minutes later; it is named, in pages, each payment once and in its
 * current state.
 */
import * as z from 'zod'
import { assetOf } from '../chains/registry.ts'
import type { Context } from '../http/handler.ts'
import { accountFrozen } from '../mail/money-messages.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import { formatAmount } from '../money/amount.ts'
import { time } from '../money/row-fields.ts'
import { paymentRow } from './payment.ts'

/** Number of payments in one page. */
const listedMax = 1_000

const openPayment = paymentRow
  .pick({ id: true, kind: true, chain: true, token: true, payee: true, amount_atomic: true })
  .extend({
    valid_before: z.int(),
    outcome: z.enum(['handed_over', 'in_transaction', 'in_block', 'never_sent', 'ended']),
  })
type OpenPayment = z.output<typeof openPayment>

const frozenRow = z.object({
  frozen_since: time,
  open_payments: z.array(openPayment),
  next_place: z.int().nullable(),
})

/** Context of a freeze: an agent's request, or the owner's request for a page. */
type FreezeContext = Pick<Context, 'world' | 'db' | 'client'>

/** Caller's reason, and the position at which the list continues. */
type FreezeRequest = { reason?: string | undefined; cursor?: string | undefined }

/** Freezes the caller's account; returns what can still settle and what was stopped. */
export async function freezeAccount(context: FreezeContext, { reason, cursor }: FreezeRequest) {
  const { world, client } = context
  const message = accountFrozen(world.config.WEB_URL, { at: world.now(), client })
  const mail = await sealForOutbox(world, message)
  const question = {
    listed_max: listedMax,
    mail,
    ...(reason === undefined ? {} : { reason }),
    ...(cursor === undefined ? {} : { after_place: Number(cursor) }),
  }
  const frozen = await context.db.one('freeze_account', question, frozenRow)
  if (!frozen) throw new Error('freeze_account answered no row')
  const { open_payments: open, next_place: next } = frozen
  return {
    frozen_at: frozen.frozen_since,
    may_settle: open.filter(maySettle).map(describeOpenPayment),
    stopped: open.filter((payment) => !maySettle(payment)).map(describeOpenPayment),
    next_cursor: next === null ? null : String(next),
  }
}

function maySettle({ outcome }: OpenPayment): boolean {
  return outcome !== 'never_sent' && outcome !== 'ended'
}

const sentences: Record<OpenPayment['outcome'], string> = {
  handed_over: 'Its merchant may have the signature and can use it until it ends.',
  in_transaction: 'A transaction that carries it was sent to the chain.',
  in_block: 'It is in a block.',
  never_sent: 'It was signed, and no open transaction carries it. None will.',
  ended: 'It was open at the freeze and has ended unused since.',
}

function describeOpenPayment(payment: OpenPayment) {
  const { chain, token } = assetOf(payment)
  return {
    payment_id: payment.id,
    kind: payment.kind,
    chain: chain.caip2,
    token: token.symbol,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    payee: payment.payee,
    why: payment.outcome,
    message: sentences[payment.outcome],
    can_settle_until: new Date(payment.valid_before * 1000).toISOString(),
  }
}
