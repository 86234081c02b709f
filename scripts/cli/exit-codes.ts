/** Exit codes by kind of refusal, so that a script knows what to do without reading words. */
import { AccountError } from '../client/account-error.ts'
import { isOutcomeOpen, PaymentError } from '../client/paid-fetch.ts'
import { UsageError } from './command.ts'
import { LoginNeeded } from './oauth.ts'

/** Exit codes. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Not logged in, or the login may not do this. */
  notAllowed: 3,
  /** A person has to confirm it first, or said no. */
  needsConfirmation: 4,
  /** A limit, a cap, a freeze or the balance forbids it. */
  overLimit: 5,
  /** Nothing has happened; the same call may work later. */
  tryAgain: 6,
  /** Money may have moved: the outcome is not known, or nothing was delivered for it. */
  outcomeOpen: 7,
  /** Ctrl-C ended what would go on: 128 and the number of SIGINT. */
  interrupted: 130,
} as const

const byCode: Readonly<Record<string, number>> = {
  unauthorized: exitCodes.notAllowed,
  insufficient_scope: exitCodes.notAllowed,
  account_frozen: exitCodes.overLimit,
  limit_exceeded: exitCodes.overLimit,
  insufficient_funds: exitCodes.overLimit,
  relay_limit_reached: exitCodes.overLimit,
  too_many_payments: exitCodes.overLimit,
  rate_limited: exitCodes.tryAgain,
  unavailable: exitCodes.tryAgain,
  conflict: exitCodes.tryAgain,
  network_error: exitCodes.tryAgain,
  timeout: exitCodes.tryAgain,
  invalid_request: exitCodes.usage,
  destination_not_approved: exitCodes.needsConfirmation,
}

/** Returns the exit code of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage
  if (error instanceof LoginNeeded) return exitCodes.notAllowed
  if (isOutcomeOpen(error)) return exitCodes.outcomeOpen
  if (error instanceof PaymentError) {
    return error.problem === 'not_confirmed' ? exitCodes.needsConfirmation : exitCodes.overLimit
  }
  return error instanceof AccountError ? (byCode[error.code] ?? exitCodes.failed) : exitCodes.failed
}
