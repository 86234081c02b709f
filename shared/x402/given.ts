/** Reads a challenge that the caller passes in, so that the service does not have to fetch it. */
import type { PaymentRequiredResponse } from './offers.ts'

/** Headers of an answer of status 402, or fields of its body. */
export type CallerChallenge = {
  payment_required?: string | undefined
  www_authenticate?: string | undefined
  x402Version?: unknown
  accepts?: unknown
  resource?: unknown
  extensions?: unknown
  error?: unknown
}

/** Rebuilds the answer of the server; undefined if the caller passes no challenge. */
export function paymentRequiredFromCaller(
  challenge: CallerChallenge,
): PaymentRequiredResponse | undefined {
  const { payment_required, www_authenticate, x402Version, accepts } = challenge
  if ([payment_required, www_authenticate, accepts].every((one) => one === undefined)) {
    return undefined
  }
  const headers = new Map([
    ['payment-required', payment_required],
    ['www-authenticate', www_authenticate],
  ])
  const { resource, extensions, error } = challenge
  return {
    headers: { get: (name) => headers.get(name) ?? null },
    body: { x402Version, accepts, resource, extensions, error },
  }
}
