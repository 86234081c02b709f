import * as z from 'zod'
import { chainNamed } from '../../shared/chains/registry.ts'
import { fail } from '../../shared/contract/errors.ts'
import { unbound } from '../../shared/db/database.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { readUntil } from '../../shared/http/input.ts'
import { confirmationBody } from '../../shared/payments/confirmation.ts'
import { nextCall } from '../../shared/payments/next-call.ts'
import { closingReason, foundRow, isSigned, isUnderWay } from '../../shared/payments/payment.ts'
import { type Watched, watchPayment } from '../../shared/payments/settle/watch.ts'
import { statusBody, transferProof } from '../../shared/payments/show/transfer-status.ts'
import type { transferStatus } from './contract.ts'

const statusRow = foundRow.extend({
  is_own: z.boolean(),
  decision: z.enum(['approved', 'declined']).nullable(),
})

type Found = Watched & Omit<z.output<typeof statusRow>, 'payment_row'>

/** Answers one payment by id or transaction hash; one that can still move is read on the chain first. */
export const run: Handler<typeof transferStatus> = async (input, context) => {
  const { db, world } = context
  const nowSeconds = () => context.now().getTime() / 1000
  const chain = input.chain === undefined ? undefined : chainNamed(input.chain)
  if (input.chain !== undefined && !chain) return fail('unsupported_chain')
  const question = {
    ...(input.transfer_id === undefined ? {} : { payment: input.transfer_id }),
    ...(input.tx_hash === undefined ? {} : { tx_hash: input.tx_hash.toLowerCase() }),
    ...(chain ? { chain: chain.id } : {}),
  }
  const found = await readUntil(
    world,
    input.wait_seconds ?? 0,
    look,
    (seen) => !isPending(seen, nowSeconds()),
  )
  if (!found) return fail('payment_not_found')
  const { payment, decision, is_own } = found
  const confirmation = await confirmationBody(world.config, payment, decision, context.now())
  // Nobody else may send what one key or app asked for.
  const isToContinue = is_own && closingReason(payment, nowSeconds()) === undefined
  const next = isToContinue ? nextCall(payment, decision === 'approved') : undefined
  return {
    ...statusBody(found),
    ...(confirmation ? { confirmation } : {}),
    ...(next ? { next } : {}),
    proof: await transferProof(world, payment, input.include_proof === true),
  }

  async function look(): Promise<Found | undefined> {
    const row = await db.one('find_payment', question, statusRow)
    if (!row) return undefined
    const { payment_row: payment, ...rest } = row
    if (!isSigned(payment.state)) return { payment, confirmations: 0, ...rest }
    return { ...(await watchPayment(world, unbound(world.db), payment)), ...rest }
  }
}

/** True while somebody else's act, or the chain, will change it. */
function isPending(found: Found | undefined, nowSeconds: number): boolean {
  if (!found) return false
  const { payment, decision } = found
  if (payment.state === 'awaiting_confirmation') {
    return decision === null && closingReason(payment, nowSeconds) === undefined
  }
  return isUnderWay(payment.state)
}
