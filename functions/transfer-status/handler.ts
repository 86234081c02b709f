import { findChain } from '../../shared/chains/registry.ts'
import { fail } from '../../shared/contract/errors.ts'
import { noncePreimage } from '../../shared/custody/nonce.ts'
import { unbound } from '../../shared/db/database.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { formatAmount } from '../../shared/money/amount.ts'
import type { Payment } from '../../shared/payments/payment.ts'
import { assetOf, foundRow } from '../../shared/payments/payment.ts'
import type { Watched } from '../../shared/payments/watch.ts'
import { watchPayment } from '../../shared/payments/watch.ts'
import type { transferStatus } from './contract.ts'

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
  return statusBody(await look(found.payment_row))

  async function look(payment: Payment): Promise<Watched> {
    const mayMove = ['signed', 'unknown', 'settled'].includes(payment.state)
    if (!mayMove) return { payment, confirmations: 0 }
    return watchPayment(world, unbound(world.db), payment)
  }
}

function statusBody({ payment, confirmations }: Watched) {
  const { chain, token } = assetOf(payment)
  const hash = payment.tx_hash
  return {
    transfer_id: payment.id,
    status: statusOf(payment.state),
    finality: payment.finality,
    chain: chain.caip2,
    tx_hash: hash,
    block_number: payment.block_number === null ? null : payment.block_number.toString(),
    block_hash: payment.block_hash,
    confirmations,
    from: payment.wallet,
    to: payment.payee,
    token: token.symbol,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    consent_level: payment.consent_level,
    proof: proofOf(payment),
    explorer_url: hash === null ? null : `${chain.explorerUrl}/tx/${hash}`,
  }
}

/** What lets a third party match the log on chain with this payment. */
function proofOf(payment: Payment) {
  if (payment.state !== 'settled' || payment.log_index === null) return null
  return {
    log_index: payment.log_index,
    authorization_nonce: payment.authorization_nonce,
    nonce_preimage: noncePreimage({
      chainId: payment.chain,
      token: payment.token,
      paymentId: payment.id,
    }),
  }
}

function statusOf(state: Payment['state']) {
  switch (state) {
    case 'prepared':
      return 'awaiting_confirmation' as const
    case 'authorized':
    case 'signed':
      return 'submitted' as const
    default:
      return state
  }
}
