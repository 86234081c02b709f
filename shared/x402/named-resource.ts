/**
 * The resource that a challenge names for itself: `resource.url` of x402 version 2, `resource` of
 * version 1. A merchant that names somebody else's is no error, but a person has to look at it.
 */
import * as z from 'zod'

const named = z.looseObject({ url: z.string() })
const requirementFields = z.looseObject({ resource: z.string() })

/** The part of frozen terms that a merchant wrote. */
type Written = { resource?: unknown; requirement?: unknown }

/** Whether an address that the challenge names is on another host than the one that is paid. */
export function namesOtherHost({ resource, requirement }: Written, origin: string): boolean {
  const { host } = new URL(origin)
  const urls = [
    typeof resource === 'string' ? resource : named.safeParse(resource).data?.url,
    requirementFields.safeParse(requirement).data?.resource,
  ]
  // What cannot be resolved names no host; what is relative names that of the origin.
  return urls.some((url) => url !== undefined && (URL.parse(url, origin)?.host ?? host) !== host)
}
