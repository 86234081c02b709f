/**
 * Refusal of a payment that the issuer of its token would not let through. Every rail checks this before
 * anything is signed, and answers the same.
 */
import type { Barred } from '../../chains/evm/bars.ts'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'

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
