/**
 * Compares the resource that a challenge names with the one that is paid: `resource.url` of x402 version 2,
 * `resource` of version 1. Naming another host is not an error, but a person must confirm it.
 */
import * as z from 'zod'

const named = z.looseObject({ url: z.string() })
const requirementFields = z.looseObject({ resource: z.string() })

/** The part of frozen terms that the merchant wrote. */
type WrittenResources = { resource?: unknown; requirement?: unknown }

/** Returns true if the challenge names an address on another host than the one that is paid. */
export function namesOtherHost(
  { resource, requirement }: WrittenResources,
  origin: string,
): boolean {
  const { host } = new URL(origin)
  const urls = [
    typeof resource === 'string' ? resource : named.safeParse(resource).data?.url,
    requirementFields.safeParse(requirement).data?.resource,
  ]
  // An invalid URL names no host. A relative URL has the host of the origin.
  return urls.some((url) => url !== undefined && (URL.parse(url, origin)?.host ?? host) !== host)
}
