/**
 * The resource that a challenge names for itself: `resource.url` of x402 version 2, `resource` of
 * version 1. A merchant that names somebody else's is no error, but a person has to look at it.
 */
import * as z from 'zod'
import type { Offer } from './offer.ts'

const named = z.looseObject({ url: z.string() })

/** Whether an address that the challenge names is on another host than the one that is paid. */
export function namesOtherHost(
  { resource, requirement }: Pick<Offer, 'resource' | 'requirement'>,
  origin: string,
): boolean {
  const { host } = new URL(origin)
  return [resource, requirement['resource']].some((given) => {
    const url = typeof given === 'string' ? given : named.safeParse(given).data?.url
    // What cannot be resolved names no host; what is relative names that of the origin.
    return url !== undefined && URL.canParse(url, origin) && new URL(url, origin).host !== host
  })
}
