import { findChain } from '../../shared/chains/registry.ts'
import { fail } from '../../shared/contract/errors.ts'
import { unbound } from '../../shared/db/database.ts'
import type { Handler } from '../../shared/http/handler.ts'
import type { Payment } from '../../shared/payments/payment.ts'
import { foundRow } from '../../shared/payments/payment.ts'
import type { Watched } from '../../shared/payments/settle/watch.ts'
import { watchPayment } from '../../shared/payments/settle/watch.ts'
import { statusBody } from '../../shared/payments/show/status-body.ts'
import { transferProof } from '../../shared/payments/show/transfer-proof.ts'
import type { transferStatus } from './contract.ts'

/** Answers one payment by id or transaction hash; one that can still move is read on the chain first. */
export const run: Handler<typeof transferStatus> = async (input, { db, world }) => {
  const chain = input.chain === undefined ? undefined : findChain(input.chain)
  if (input.chain !== undefined && !chain) return fail('unsupported_chain')
  const question = {
    ...(input.transfer_id === undefined ? {} : { payment: input.transfer_id }),
    ...(input.tx_hash === undefined ? {} : { tx_hash: input.tx_hash.toLowerCase() }),
    ...(chain ? { chain: chain.id } : {}),
  }
  const found = await db.one('find_payment', question, foundRow)
  if (!found) return fail('payment_not_found')
  const watched = await readOutcome(found.payment_row)
  return { ...statusBody(watched), proof: await transferProof(world, watched.payment) }

  async function readOutcome(payment: Payment): Promise<Watched> {
    const mayMove = ['signed', 'unknown', 'settled'].includes(payment.state)
    if (!mayMove) return { payment, confirmations: 0 }
    return watchPayment(world, unbound(world.db), payment)
  }
}
