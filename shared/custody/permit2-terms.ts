/**
 * Which payments are signed as a Permit2 permit, by the terms that they were entered with, and for
 * which of the x402 proxies. Plain data: it is read wherever a payment is signed, sent or watched.
 */
import * as z from 'zod'

/** The proxies of x402 through which alone such a permit can be used, on every chain. */
export const permit2Spenders = {
  exact: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  upto: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
} as const

/** In upto the amount is the most, and only the facilitator may take it. */
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

/** The form of the permit, or undefined where the terms are not paid by Permit2. */
export function permit2Of(terms: Record<string, unknown>): Permit2Form | undefined {
  if (terms['transfer_method'] !== 'permit2') return undefined
  const read = permitTerms.parse(terms)
  if (read.scheme === 'exact') return { scheme: 'exact' }
  return { scheme: 'upto', facilitator: read.requirement.extra.facilitatorAddress }
}
