/** The part of a host name that somebody registered, by the public suffix list with its private part. */
import { getDomain } from 'tldts'

/** The registrable domain, in lower case; undefined where none can be owned, as of co.uk or an IP. */
export function registrableDomain(host: string): string | undefined {
  return (
    getDomain(host.toLowerCase().replace(/\.$/, ''), { allowPrivateDomains: true }) ?? undefined
  )
}
