/**
 * The refusal of a payment that the issuer of its token would not let through. Every rail looks for it
 * before anything is signed, and says the same.
 */
import type { Barred } from '../chains/evm/bars.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'

/** A payee that is barred is refused for good; the rest may pass. */
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
