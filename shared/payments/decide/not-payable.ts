/**
 * Refusal of a payment that the issuer of its token would not let through. Every rail checks this before
 * anything is signed, and answers the same.
 */
import type { Barred } from '../../chains/evm/funds.ts'
import type { Chain, Token } from '../../chains/registry.ts'
import { fail, type Refusal, type RefusalDetail } from '../../contract/errors.ts'
import { formatAmount } from '../../money/amount.ts'

/** Returns the refusal. A barred payee is refused for good; the other bars may pass. */
export function refuseBarred(
  barred: Barred,
  symbol: string,
): Refusal<'recipient_refused' | 'unavailable'> {
  if (barred === 'payee') {
    return fail('recipient_refused', { message: `The issuer of ${symbol} bars this recipient.` })
  }
  const message =
    barred === 'paused'
      ? `The issuer of ${symbol} has paused all transfers on this chain.`
      : `The issuer of ${symbol} bars this wallet.`
  return fail('unavailable', { message, hint: 'Try again later, or pay on another chain.' })
}

/** Returns the refusal, from atomic units. `freeAtomic` is negative if more is reserved than held. */
export function notFunded(
  { chain, token }: { chain: Chain; token: Token },
  neededAtomic: bigint,
  freeAtomic: bigint,
  more: RefusalDetail = {},
): Refusal<'insufficient_funds'> {
  const available = formatAmount(freeAtomic < 0n ? 0n : freeAtomic, token.decimals)
  const needed = formatAmount(neededAtomic, token.decimals)
  const amount = formatAmount(neededAtomic - freeAtomic, token.decimals)
  const asset = { chain: chain.caip2, token: token.symbol }
  const next = {
    tool: 'create_login_link',
    arguments: { action_type: 'deposit', ...asset, amount },
    when: 'Your user wants to deposit what is missing.',
  }
  return fail('insufficient_funds', {
    details: { ...asset, available, needed, next },
    hint: `${amount} ${token.symbol} on ${chain.title} are missing: give your user a link to deposit them, by the call in details.next.`,
    ...more,
  })
}

/** Returns the refusal of a transfer whose gas costs more now than the operator pays for one. */
export function gasTooDear({ title }: Chain): Refusal<'unavailable'> {
  return fail('unavailable', {
    message: `Gas on ${title} costs more now than this service pays for one transfer.`,
    hint: 'Try again later, or pay on another chain.',
    retryAfterSeconds: 60,
  })
}

/** Refusal of a transfer whose gas nobody can pay. */
export const noGas = fail('unavailable', {
  message:
    'No relayer can pay for gas on this chain now, and the wallet does not hold enough itself.',
  hint: 'Try again later, or fund the wallet with the native coin of the chain.',
  retryAfterSeconds: 60,
})

/** Refusal of a transfer whose wallet has to wait until its own transactions are mined. */
export const gasPayerFull = fail('unavailable', {
  message: 'The wallet has too many transactions of its own in flight on this chain.',
  hint: 'Try again once some of them are mined.',
  retryAfterSeconds: 60,
})
