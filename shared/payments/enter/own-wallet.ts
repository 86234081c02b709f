/**
 * Refusal of a payment to the wallet that would pay it, shared by all code that resolves or enters a
 * recipient.
 */
import { fail } from '../../contract/errors.ts'

/** Refusal of such a payment, for which nothing is entered. */
export const ownWallet = fail('recipient_refused', { message: 'This is your own wallet.' })
