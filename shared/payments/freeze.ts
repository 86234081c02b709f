/**
 * Freezes an account and has its signed, unsettled payments cancelled on chain. The freeze stands once SQL
 * has answered. A cancellation that fails leaves it in place and is reported, and housekeeping tries again.
 * Payments that were open at the freeze are listed in pages, each once and in its current state. A payment
 * can settle until the chain has executed its cancellation.
 */
import * as z from 'zod'
import { assetOf } from '../chains/registry.ts'
import { time } from '../db/row-fields.ts'
import type { Context } from '../http/handler.ts'
import { accountFrozen } from '../mail/money-messages.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import { formatAmount } from '../money/amount.ts'
import { paymentRow } from './payment.ts'

/** Number of payments in one page. */
const listedMax = 1_000
/** Number of the largest of them whose cancellation a call queues itself; housekeeping queues the rest. */
const cancelledMax = 50

const obstacles = ['expired', 'permit2'] as const

const openPayment = paymentRow
  .pick({
    id: true,
    kind: true,
    state: true,
    chain: true,
    token: true,
    payee: true,
    amount_atomic: true,
  })
  .extend({
    valid_before: z.int(),
    obstacle: z.enum(obstacles).nullable(),
    /** True if its signature was released to a merchant. */
    is_handed: z.boolean(),
    /** True if a transaction with its transfer was released and its slot is not final in the ledger. */
    is_carried: z.boolean(),
    /** True if its cancellation is queued or sent. */
    is_cancelled: z.boolean(),
    /** True if it was in a block that is gone, and no gas is kept for its cancellation. */
    is_reopened: z.boolean(),
  })
type OpenPayment = z.output<typeof openPayment>

const frozenRow = z.object({
  frozen_since: time,
  open_payments: z.array(openPayment),
  next_place: z.int().nullable(),
})

type Why =
  | 'live_authorization'
  | 'handed_over'
  | 'not_queued'
  | 'in_transaction'
  | 'in_block'
  | 'ended'
  | (typeof obstacles)[number]

/** Context of a freeze: an agent's request, or the owner's request for a page. */
type FreezeContext = Pick<Context, 'world' | 'db' | 'credential' | 'requestId' | 'client'>

/** Caller's reason, and the position at which the list continues. */
type FreezeRequest = { reason?: string | undefined; cursor?: string | undefined }

/** Freezes the caller's account; returns what is being stopped and what cannot be stopped. */
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
  const first = open.filter(isCancellable).slice(0, cancelledMax)
  const queued = new Map(
    await Promise.all(first.map(async (one) => [one, await cancel(context, one)] as const)),
  )
  // Housekeeping queues the rest if all of these could be queued and gas is kept for it.
  const areQueued = [...queued.values()].every(Boolean)
  const listed = open.map((payment) => {
    const isSure = queued.get(payment) ?? (areQueued && !payment.is_reopened)
    return { payment, why: whyOpen(payment, payment.is_cancelled || isSure) }
  })
  const named = (isIn: (why: Why) => boolean) => listed.filter(({ why }) => isIn(why)).map(describe)
  return {
    frozen_at: frozen.frozen_since,
    cancelling: named(isBeingCancelled),
    cannot_be_stopped: named((why) => !isBeingCancelled(why) && why !== 'ended'),
    ended: named((why) => why === 'ended'),
    next_cursor: next === null ? null : String(next),
  }
}

function isCancellable({ state, obstacle, is_cancelled }: OpenPayment): boolean {
  return !['settled', 'released'].includes(state) && obstacle === null && !is_cancelled
}

function isBeingCancelled(why: Why): boolean {
  return why === 'live_authorization' || why === 'handed_over'
}

function whyOpen({ state, obstacle, is_handed, is_carried }: OpenPayment, isQueued: boolean): Why {
  if (state === 'settled') return 'in_block'
  if (state === 'released') return 'ended'
  if (is_carried) return 'in_transaction'
  if (obstacle !== null) return obstacle
  if (!isQueued) return 'not_queued'
  return is_handed ? 'handed_over' : 'live_authorization'
}

/** Cancels a payment; true if its cancellation is queued. */
async function cancel({ world, requestId }: FreezeContext, { id }: OpenPayment): Promise<boolean> {
  if (!world.custody) throw new Error('CUSTODY is not bound')
  try {
    const { outcome } = await world.custody.cancel({ paymentId: id })
    return outcome === 'queued'
  } catch (error) {
    world.log({ requestId, payment: id, log: `not cancelled: ${String(error)}` })
    return false
  }
}

const sentences: Record<Why, string> = {
  live_authorization: 'It is signed and unused; it is being cancelled.',
  handed_over:
    'It is signed and its merchant has it; it is being cancelled, and can be used until it is.',
  not_queued: 'It is signed and unused, and its cancellation could not be queued yet.',
  in_transaction: 'A transaction that carries it was sent to the chain.',
  in_block: 'It is in a block. Should the block be replaced before it is final, it is cancelled.',
  permit2:
    'Its permit of Permit2 is out; nothing but a transaction of the wallet itself could cancel it.',
  expired: 'Its signature has expired; it settled before or never will.',
  ended: 'It was open at the freeze and has ended unused since.',
}

function describe({ payment, why }: { payment: OpenPayment; why: Why }) {
  const { chain, token } = assetOf(payment)
  return {
    payment_id: payment.id,
    kind: payment.kind,
    chain: chain.caip2,
    token: token.symbol,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    payee: payment.payee,
    why,
    message: sentences[why],
    can_settle_until: new Date(payment.valid_before * 1000).toISOString(),
  }
}
