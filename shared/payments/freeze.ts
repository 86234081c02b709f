/**
 * Freezes an account and has cancelled on chain what was signed and is not settled. The freeze stands
 * once SQL has answered; a cancellation that fails leaves it so and is told, and housekeeping tries
 * again. What is listed as being cancelled can settle until the chain has cancelled it.
 */
import * as z from 'zod'
import { assetOf } from '../chains/registry.ts'
import { time } from '../db/row-fields.ts'
import type { Context } from '../http/handler.ts'
import { accountFrozen } from '../mail/money-messages.ts'
import { sealMail } from '../mail/outbox.ts'
import { formatAmount } from '../money/amount.ts'
import { paymentRow } from './payment.ts'

/** Payments that one call lists. */
const listedMax = 1_000
/** Of them, the largest, that it has cancelled itself; housekeeping queues the rest. */
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
  })
type OpenPayment = z.output<typeof openPayment>

const frozenRow = z.object({
  frozen_since: time,
  open_payments: z.array(openPayment),
  not_listed: z.int(),
})

type Why =
  | 'live_authorization'
  | 'not_queued'
  | 'in_transaction'
  | 'in_block'
  | (typeof obstacles)[number]

/** What it takes of a request: an agent's, or one of the owner for a page. */
type Freezing = Pick<Context, 'world' | 'db' | 'credential' | 'requestId' | 'client'>

/** Freezes the caller's account; answers what is being stopped and what cannot be. */
export async function freezeAccount(context: Freezing, reason: string | undefined) {
  const { world, client } = context
  const message = accountFrozen(world.config.WEB_URL, { at: world.now(), client })
  const mail = await sealMail(world, message)
  const question = { listed_max: listedMax, mail, ...(reason === undefined ? {} : { reason }) }
  const frozen = await context.db.one('freeze_account', question, frozenRow)
  if (!frozen) throw new Error('freeze_account answered no row')
  const open = await Promise.all(
    frozen.open_payments.map(async (payment, place) => {
      const why = await stop(context, payment, place)
      const isOut = why !== 'in_block' && payment.is_carried
      return { payment, why: isOut ? ('in_transaction' as const) : why }
    }),
  )
  const isStopping = ({ why }: { why: Why }) => why === 'live_authorization'
  return {
    frozen_at: frozen.frozen_since,
    cancelling: open.filter(isStopping).map(describe),
    cannot_be_stopped: open.filter((one) => !isStopping(one)).map(describe),
    not_listed: frozen.not_listed,
  }
}

async function stop(
  { world, requestId }: Freezing,
  payment: OpenPayment,
  place: number,
): Promise<Why> {
  if (payment.state === 'settled') return 'in_block'
  if (payment.obstacle !== null) return payment.obstacle
  if (place >= cancelledMax) return 'live_authorization'
  if (!world.custody) throw new Error('CUSTODY is not bound')
  try {
    const { outcome } = await world.custody.cancel({ paymentId: payment.id })
    return outcome === 'queued' ? 'live_authorization' : 'not_queued'
  } catch (error) {
    world.log({ requestId, payment: payment.id, log: `not cancelled: ${String(error)}` })
    return 'not_queued'
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
