/** The payment that the address of a page names. */
import { type ErrorCode, fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { waitUntilOf } from '../../../shared/http/later.ts'
import { factsOf } from '../../../shared/payments/decide/decision-facts.ts'
import type { DecisionMaker } from '../../../shared/payments/decide/judge.ts'
import type { Sender } from '../../../shared/payments/pay/authorize.ts'
import type { sendTransfer } from '../../../shared/payments/pay/transfer.ts'
import type { Payment } from '../../../shared/payments/payment.ts'
import { paymentWithFactsRow } from '../../../shared/payments/payment-with-facts.ts'
import { decide } from '../../../shared/policy/decide.ts'
import { requireOwner } from '../frame.ts'
import type { PageContext } from '../visit.ts'
import { type OpenedApproval, openApprovals } from './approvals-data.ts'

/** Reads the payment of the address. One of another account answers exactly as a missing one. */
export async function openApproval(c: PageContext): Promise<OpenedApproval> {
  const [opened] = await openApprovals(await requireOwner(c), [c.req.param('payment') ?? ''])
  if (opened) return opened
  const message =
    'This account has no such request. The link works only in the account it was made for.'
  throw new Rejection(fail('payment_not_found', { message }))
}

/**
 * Sends an approved transfer; one that was sent already is not sent again, and a purchase is left to the agent,
 * which gets what it buys. Returns why a transfer was not sent, or undefined. It then stays approved, and the
 * owner or the agent can send it. `send` is shared/payments/pay's.
 */
export async function sendApproved(
  c: PageContext,
  { id, kind }: Pick<Payment, 'id' | 'kind'>,
  send: typeof sendTransfer,
): Promise<ErrorCode | undefined> {
  if (kind !== 'transfer') return undefined
  const { db, credential } = await requireOwner(c)
  // An approved payment keeps the device that asked for it, whoever sends it.
  const known = { world: c.get('world'), db, credential, later: waitUntilOf(c) }
  const sender: Sender = { ...known, device: async () => '' }
  const question = { payment: id, kind, device: '' }
  try {
    const entered = await db.one('payment_facts', question, paymentWithFactsRow)
    if (!entered) return 'payment_not_found'
    const sent = await send(sender, entered, byApproval)
    return isRefusal(sent) ? sent.refusal : undefined
  } catch (error) {
    if (error instanceof Rejection) return error.refusal.refusal
    throw error
  }
}

/** Decides by the approval and the caps alone: without it, nothing that an agent could say is asked for. */
const byApproval: DecisionMaker = {
  decide: async (entered) => {
    const facts = await factsOf(entered, true)
    if (facts.ownerApproved === null) throw new Rejection(fail('payment_closed'))
    return decide(facts)
  },
  refuse: async () => fail('limit_exceeded'),
  ask: async () => {
    throw new Rejection(fail('payment_closed'))
  },
}
