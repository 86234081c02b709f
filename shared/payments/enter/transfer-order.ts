/**
 * Reads what a transfer asks for, from an agent's words to atomic units and canonical addresses. Looks up
 * nothing in the database; an order that can be read may still be refused later.
 */
import type { Refusal } from '../../contract/errors.ts'
import { fail, isRefusal } from '../../contract/errors.ts'
import type { Config } from '../../env.ts'
import { parseAmount, parseDollars } from '../../money/amount.ts'
import { usdMicrosEnd, usdMicrosOf } from '../../money/usd.ts'
import type { Recipient } from './recipient.ts'
import { readRecipient } from './recipient.ts'
import type { Asset } from './transfer-asset.ts'

/** Order in an agent's words; the amount is in token units. */
export type TransferRequest = { recipient: string; amount: string }

/** Parsed order; `usdMicros` is what it counts for against the limits. */
export type TransferOrder = Asset & {
  amountAtomic: bigint
  usdMicros: bigint
  recipient: Recipient
  /** Terms of an order that the recipient carries out; none when absent. */
  terms?: Record<string, unknown>
}

type OrderRefusal = Refusal<
  'unsupported_token' | 'invalid_request' | 'recipient_not_found' | 'recipient_refused'
>

/** Reads an order in this asset, or returns the refusal of what cannot be served here. */
export function readTransferOrder(
  wish: TransferRequest,
  { chain, token }: Asset,
  config: Config,
): TransferOrder | OrderRefusal {
  const read = token.symbol === 'USDC' ? parseDollars : parseAmount
  const amountAtomic = read(wish.amount, token.decimals)
  if (amountAtomic === undefined || amountAtomic === 0n) {
    const message = `amount: more than zero, with at most ${token.decimals} decimals; only USDC takes a $`
    return fail('invalid_request', { message })
  }
  const usdMicros = usdMicrosOf(token, amountAtomic, config)
  if (usdMicros === undefined) {
    return fail('unsupported_token', { message: `${token.symbol} has no USD rate configured.` })
  }
  if (usdMicros >= usdMicrosEnd) {
    return fail('invalid_request', { message: 'amount: less, for no limit lets so much through' })
  }
  const recipient = readRecipient(wish.recipient, [chain], config.MAIL_DOMAIN)
  if (isRefusal(recipient)) return recipient
  return { chain, token, amountAtomic, usdMicros, recipient }
}
