/** Answer to a caller whose payment was sent and whose outcome could not be kept or read. */
import { fail, type Refusal, Rejection } from '../../contract/errors.ts'
import type { Payment } from '../payment.ts'

/**
 * Returns a handler for a lost outcome. Money may have moved, so its refusal names the attempt and does not
 * say that nothing was changed.
 */
export function outcomeLost({ id }: Payment) {
  return (error: unknown): Refusal<'unavailable'> => {
    // A caller whose key was revoked or that asks too often gets that refusal.
    if (error instanceof Rejection && error.refusal.refusal !== 'unavailable') throw error
    return fail('unavailable', {
      message: 'The payment was signed and sent, but its outcome could not be kept or read.',
      hint: 'Execute the same attempt again: the same signature is sent again, never another.',
      details: { attempt_id: id },
      retryAfterSeconds: 60,
      log: `the outcome of an attempt was lost: ${String(error)}`,
    })
  }
}
