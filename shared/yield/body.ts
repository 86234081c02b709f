/** Describes orders as operations return them (shared/contract/yield.ts). */
import * as z from 'zod'
import type { Unavailable } from '../chains/evm/rpc/endpoints.ts'
import type { Position } from '../chains/evm/yield.ts'
import { assetOf } from '../chains/registry.ts'
import { formatAmount } from '../money/amount.ts'
import { bigintText } from '../money/row-fields.ts'
import type { Payment } from '../payments/payment.ts'
import { stateSentence, summaryOf } from '../payments/words.ts'
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
    status: stateSentence(payment.state),
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

/** Row of what settled orders paid into a vault and got back, in atomic units. */
export const totalRow = z.object({
  chain: z.int(),
  vault: z.string(),
  paid_atomic: bigintText,
  returned_atomic: bigintText,
  is_known: z.boolean(),
})
type Total = z.output<typeof totalRow>

/** Returns a function that picks the rows of a vault. */
export function isRowOf({ chain, address }: YieldVault) {
  return (row: { chain: number; vault: string }) => row.chain === chain.id && row.vault === address
}

/** Returns the totals of a vault. */
export function totalOf(totals: readonly Total[], vault: YieldVault) {
  const nothing = { paid_atomic: 0n, returned_atomic: 0n, is_known: true }
  return totals.find(isRowOf(vault)) ?? nothing
}

/** Decimals of USDC on every chain of the registry, and of each vault's token. */
const usdcDecimals = 6

/** Formats atomic units of USDC, which may be negative. */
export function signedUsdc(atomic: bigint): string {
  const sign = atomic < 0n ? '-' : ''
  return sign + formatAmount(atomic < 0n ? -atomic : atomic, usdcDecimals)
}

/** Returns a vault with the account's position in it, as far as it answers. */
export function vaultBody(
  { chain, token, gate, address, name, riskNote }: YieldVault,
  seen: Position | Unavailable,
  total: { paid_atomic: bigint; returned_atomic: bigint; is_known: boolean },
) {
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
    share_price: isSeen ? signedUsdc(seen.priceAtomic) : null,
    position: isSeen
      ? {
          shares: formatAmount(seen.shares, seen.decimals),
          worth: signedUsdc(seen.worthAtomic),
          worth_atomic: seen.worthAtomic.toString(),
        }
      : null,
    paid_in: signedUsdc(paid),
    paid_out: signedUsdc(returned),
    earned: isSeen && total.is_known ? signedUsdc(seen.worthAtomic + returned - paid) : null,
  }
}
