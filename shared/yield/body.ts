/** Describes orders as operations return them (shared/contract/yield.ts). */
import * as z from 'zod'
import type { Unavailable } from '../chains/evm/rpc/answer.ts'
import type { Position } from '../chains/evm/yield.ts'
import { assetOf } from '../chains/registry.ts'
import { formatAmount } from '../money/amount.ts'
import type { Payment } from '../payments/payment.ts'
import { statusOf, summaryOf } from '../payments/words.ts'
import type { YieldVault } from './registry.ts'

const orderTerms = z.object({
  operation: z.enum(['deposit', 'withdraw']),
  vault: z.string(),
  amount: z.string(),
  max_slippage_bps: z.int(),
})

/** Returns an order in the form of the API. */
export function orderBody(payment: Payment) {
  const { chain, token } = assetOf(payment)
  return {
    order_id: payment.id,
    ...orderTerms.parse(payment.terms),
    chain: chain.caip2,
    token: token.symbol,
    status: statusOf(payment.state),
    finality: payment.finality,
    summary: summaryOf(payment),
    created_at: payment.created_at,
    consent_level: payment.consent_level,
    tx_hash: payment.tx_hash,
    block_number: payment.block_number?.toString() ?? null,
  }
}

/** Source of every answer about orders. */
export const source = 'service_index' as const

/** Returns a vault with the account's position in it, as far as it answers. */
export function vaultBody(
  { chain, token, gate, address, name, riskNote }: YieldVault,
  seen: Position | Unavailable,
  total: { paid_atomic: bigint; returned_atomic: bigint; is_known: boolean },
) {
  const usdc = (atomic: bigint) =>
    atomic < 0n ? `-${formatAmount(-atomic, token.decimals)}` : formatAmount(atomic, token.decimals)
  const isSeen = !('log' in seen)
  const { paid_atomic: paid, returned_atomic: returned } = total
  return {
    chain: chain.caip2,
    vault: address,
    gate,
    token: token.symbol,
    name,
    risk_note: riskNote,
    status: isSeen ? ('ok' as const) : ('unavailable' as const),
    share_price: isSeen ? usdc(seen.priceAtomic) : null,
    position: isSeen
      ? {
          shares: formatAmount(seen.shares, seen.decimals),
          worth: usdc(seen.worthAtomic),
          worth_atomic: seen.worthAtomic.toString(),
        }
      : null,
    paid_in: usdc(paid),
    paid_out: usdc(returned),
    earned: isSeen && total.is_known ? usdc(seen.worthAtomic + returned - paid) : null,
  }
}
