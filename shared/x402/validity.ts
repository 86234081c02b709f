/**
 * For how long a signature is good: as short as the offer asks, and never longer than our own bound,
 * because until it ends the amount stays reserved and may be taken.
 */
import type { Offer } from './offer.ts'

/** A signature is good for five minutes at most, whatever a merchant asks for. */
const validSecondsMax = 300
/** Version 1 servers check validAfter against their own clock; clients leave ten minutes. */
const v1ClockSkewSeconds = 600

/** Unix seconds, both exclusive (EIP-3009). */
export type Validity = { validAfter: number; validBefore: number }

/** Seconds for which a signature on this offer is good. */
export function validSecondsOf(maxTimeoutSeconds: number): number {
  return Math.min(maxTimeoutSeconds, validSecondsMax)
}

/** Unix seconds between which the authorization may be used; a challenge of MPP ends by itself. */
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
