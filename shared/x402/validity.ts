/**
 * Computes how long a signature is valid: as short as the offer asks, and never longer than our own bound,
 * because until it expires the amount stays reserved and may be taken.
 */
import type { Offer } from './offer.ts'

/** Longest validity in seconds (five minutes), whatever a merchant asks for. */
const validSecondsMax = 300
/** Allowance for the clock of a version 1 server, which checks validAfter; clients use ten minutes. */
const v1ClockSkewSeconds = 600

/** Unix seconds, both exclusive (EIP-3009). */
export type Validity = { validAfter: number; validBefore: number }

/** Returns the seconds for which a signature on this offer is valid. */
export function validSecondsOf(maxTimeoutSeconds: number): number {
  return Math.min(maxTimeoutSeconds, validSecondsMax)
}

/** Returns the Unix seconds of the validity. An MPP challenge has its own end, `endSeconds`. */
export function validityOf(
  { protocol, version }: Pick<Offer, 'protocol' | 'version'>,
  nowSeconds: number,
  validSeconds: number,
  endSeconds = Number.POSITIVE_INFINITY,
): Validity {
  const isOld = protocol === 'x402' && version === 1
  return {
    validAfter: isOld ? nowSeconds - v1ClockSkewSeconds : 0,
    validBefore: Math.min(nowSeconds + validSeconds, endSeconds),
  }
}
