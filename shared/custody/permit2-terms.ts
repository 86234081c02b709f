/**
 * Tells by a payment's stored terms whether it is signed as a Permit2 permit, and for which x402 proxy.
 * Plain data: it is read wherever a payment is signed, sent or watched.
 */
import * as z from 'zod'

/** Proxies of x402, the only users of such a permit, on every chain. */
export const permit2Spenders = {
  exact: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  upto: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
} as const

/** Form of a permit. In upto the amount is the most, and only the facilitator may take it. */
export type Permit2Form = { scheme: 'exact' } | { scheme: 'upto'; facilitator: string }

const shared = { transfer_method: z.literal('permit2') }
const uptoExtra = z.object({ facilitatorAddress: z.string() })
const permitTerms = z.discriminatedUnion('scheme', [
  z.object({ ...shared, scheme: z.literal('exact') }),
  z.object({
    ...shared,
    scheme: z.literal('upto'),
    requirement: z.object({ extra: uptoExtra }),
  }),
])

/** Returns the form of the permit, or undefined if the terms are not paid by Permit2. */
export function permit2Of(terms: Record<string, unknown>): Permit2Form | undefined {
  if (terms['transfer_method'] !== 'permit2') return undefined
  const read = permitTerms.parse(terms)
  if (read.scheme === 'exact') return { scheme: 'exact' }
  return { scheme: 'upto', facilitator: read.requirement.extra.facilitatorAddress }
}
