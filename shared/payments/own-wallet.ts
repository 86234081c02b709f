/**
 * The refusal of a payment to the wallet that would pay it. Whoever resolves or enters a recipient gives
 * it, so that all of them say the same.
 */
import { fail } from '../contract/errors.ts'

/** Nothing is entered for such a payment. */
export const ownWallet = fail('recipient_refused', { message: 'This is your own wallet.' })
