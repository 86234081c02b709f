/**
 * Converts a deposit from its database row to an item of the feed. The sender is named by its full address.
 * A deposit that looks like address poisoning carries a warning and is shown only on request.
 */
import * as z from 'zod'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import { assetOf } from '../../chains/registry.ts'
import { formatAmount } from '../../money/amount.ts'
import { bigintText } from '../../money/row-fields.ts'

/** Deposit as api.list_activity returns it. */
export const depositRow = z.object({
  id: z.uuid(),
  chain: z.int(),
  token: addressSchema,
  amount_atomic: bigintText,
  sender: addressSchema,
  sender_alias: z.string().nullable(),
  tx_hash: wordSchema,
  flag: z.enum(['zero_value', 'look_alike', 'dust']).nullable(),
  finality: z.enum(['included', 'safe', 'finalized', 'reorged']),
})

type Deposit = z.output<typeof depositRow>

const warnings: Record<NonNullable<Deposit['flag']>, string> = {
  zero_value:
    'Nothing was received: such a transfer can be made in the name of anybody. Never pay an address that is copied from it.',
  look_alike:
    'The sender looks like a known recipient but is another address. Never pay an address that is copied from it.',
  dust: 'Less than a cent from an unknown sender is mostly bait. Never pay an address that is copied from it.',
}

/** Converts a deposit to an item of the feed; its status is its finality. */
export function depositItem(deposit: Deposit) {
  const { chain, token } = assetOf(deposit)
  const alias = deposit.sender_alias
  return {
    summary: summaryOf(deposit),
    status: deposit.finality,
    amount: formatAmount(deposit.amount_atomic, token.decimals),
    token: token.symbol,
    chain: chain.caip2,
    tx_hash: deposit.tx_hash,
    from: { address: deposit.sender, ...(alias === null ? {} : { alias }) },
    ...(deposit.flag === null ? {} : { warning: warnings[deposit.flag] }),
    ref: { kind: 'deposit', id: deposit.id },
  }
}

function summaryOf(deposit: Deposit): string {
  const { chain, token } = assetOf(deposit)
  const { sender, sender_alias: alias } = deposit
  const amount = `${formatAmount(deposit.amount_atomic, token.decimals)} ${token.symbol}`
  const from = alias === null ? sender : `${alias} (${sender})`
  return deposit.finality === 'reorged'
    ? `The chain took back ${amount} on ${chain.title} from ${from}.`
    : `Received ${amount} on ${chain.title} from ${from}.`
}
