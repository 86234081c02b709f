/** A challenge that a caller brings instead of having the service ask for it. */
import type { Asking } from './demand.ts'

/** The headers of an answer of status 402, or the fields of its body. */
export type Given = {
  payment_required?: string | undefined
  www_authenticate?: string | undefined
  x402Version?: unknown
  accepts?: unknown
  resource?: unknown
  extensions?: unknown
  error?: unknown
}

/** The answer that it was taken from, or undefined where the caller brings none. */
export function askingGiven(given: Given): Asking | undefined {
  const { payment_required, www_authenticate, x402Version, accepts } = given
  if ([payment_required, www_authenticate, accepts].every((one) => one === undefined)) {
    return undefined
  }
  const headers = new Map([
    ['payment-required', payment_required],
    ['www-authenticate', www_authenticate],
  ])
  const { resource, extensions, error } = given
  return {
    headers: { get: (name) => headers.get(name) ?? null },
    body: { x402Version, accepts, resource, extensions, error },
  }
}
