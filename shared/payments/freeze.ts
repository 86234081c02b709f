/**
 * Freezes an account and has cancelled on chain what was signed and is not settled. The freeze stands
 * once SQL has answered; a cancellation that fails leaves it so and is told, and housekeeping tries
 * again. What was open at the freeze is named in pages, each payment in one of them as it stands now; what
 * is being cancelled can settle until the chain has cancelled it.
 */
import * as z from 'zod'
import { assetOf } from '../chains/registry.ts'
import { time } from '../db/row-fields.ts'
import type { Context } from '../http/handler.ts'
import { accountFrozen } from '../mail/money-messages.ts'
import { sealMail } from '../mail/outbox.ts'
import { formatAmount } from '../money/amount.ts'
import { paymentRow } from './payment.ts'

/** Payments of one page. */
const listedMax = 1_000
/** Of them, the largest, that a call has cancelled itself; housekeeping queues the rest. */
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
    /** A transaction with its transfer is stored, and not mined yet as far as the ledger knows. */
    is_carried: z.boolean(),
    /** Its cancellation is queued or sent. */
    is_cancelled: z.boolean(),
  })
type OpenPayment = z.output<typeof openPayment>

const frozenRow = z.object({
  frozen_since: time,
  open_payments: z.array(openPayment),
  next_place: z.int().nullable(),
})

type Why =
  | 'live_authorization'
  | 'not_queued'
  | 'in_transaction'
  | 'in_block'
  | 'ended'
  | (typeof obstacles)[number]

/** What it takes of a request: an agent's, or one of the owner for a page. */
type Freezing = Pick<Context, 'world' | 'db' | 'credential' | 'requestId' | 'client'>

/** What the caller says of it, and where the list goes on. */
type Wish = { reason?: string | undefined; cursor?: string | undefined }

/** Freezes the caller's account; answers what is being stopped and what cannot be. */
export async function freezeAccount(context: Freezing, { reason, cursor }: Wish) {
  const { world, client } = context
  const message = accountFrozen(world.config.WEB_URL, { at: world.now(), client })
  const mail = await sealMail(world, message)
  const question = {
    listed_max: listedMax,
    mail,
    ...(reason === undefined ? {} : { reason }),
    ...(cursor === undefined ? {} : { after_place: Number(cursor) }),
  }
  const frozen = await context.db.one('freeze_account', question, frozenRow)
  if (!frozen) throw new Error('freeze_account answered no row')
  const { open_payments: open, next_place: next } = frozen
  const cancellable = new Set(open.filter(isCancellable).slice(0, cancelledMax))
  const listed = await Promise.all(
    open.map(async (payment) => {
      const isQueued = !cancellable.has(payment) || (await cancel(context, payment))
      return { payment, why: whyOpen(payment, isQueued) }
    }),
  )
  const named = (isIn: (why: Why) => boolean) => listed.filter(({ why }) => isIn(why)).map(describe)
  return {
    frozen_at: frozen.frozen_since,
    cancelling: named((why) => why === 'live_authorization'),
    cannot_be_stopped: named((why) => why !== 'live_authorization' && why !== 'ended'),
    ended: named((why) => why === 'ended'),
    next_cursor: next === null ? null : String(next),
  }
}

function isCancellable({ state, obstacle, is_cancelled }: OpenPayment): boolean {
  return !['settled', 'released'].includes(state) && obstacle === null && !is_cancelled
}

function whyOpen({ state, obstacle, is_carried }: OpenPayment, isQueued: boolean): Why {
  if (state === 'settled') return 'in_block'
  if (state === 'released') return 'ended'
  if (is_carried) return 'in_transaction'
  return obstacle ?? (isQueued ? 'live_authorization' : 'not_queued')
}

/** Whether its cancellation is queued. */
async function cancel({ world, requestId }: Freezing, { id }: OpenPayment): Promise<boolean> {
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
  live_authorization: 'Its signature is out and unused; it is being cancelled.',
  not_queued: 'Its signature is out, and its cancellation could not be queued yet.',
  in_transaction: 'A transaction that carries it may be on its way to the chain.',
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
