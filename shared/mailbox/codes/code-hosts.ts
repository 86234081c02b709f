/**
 * Finds the hosts at which the codes of a mail may be used: the host that the mail is from, and those
 * hosts named by its links that belong to the sender. A mail may quote others, so a link alone releases
 * nothing: the owner must also have a login at that host.
 */

import { registrableDomain } from '../registrable-domain.ts'
import { addressesIn } from './code-links.ts'

/** Maximum number of addresses that are read in a mail, and of hosts that its codes may have. */
const addressesMax = 1_000
const hostsMax = 20

/** Returns the hosts, the sender's first; none if nothing proves who sent the mail. */
export function codeHosts(
  { from, provenDomain: domain }: { from: string; provenDomain?: string | undefined },
  texts: readonly string[],
): string[] {
  if (domain === undefined) return []
  const sender = from.slice(from.lastIndexOf('@') + 1)
  const linked = texts
    .flatMap((text) => addressesIn(text).map(({ start, end }) => text.slice(start, end)))
    .slice(0, addressesMax)
    .flatMap((address) => hostOf(address) ?? [])
    .filter((host) => isOf(domain, host))
  return [...new Set([sender, ...linked])].slice(0, hostsMax)
}

function hostOf(address: string): string | undefined {
  const url = URL.parse(address)
  return url?.protocol === 'https:' ? url.hostname : undefined
}

/** Returns true if a domain covers a host. An operator covers its customers, but none of them another. */
function isOf(domain: string, host: string): boolean {
  const own = registrableDomain(host)
  return own !== undefined && (own === domain || own.endsWith(`.${domain}`))
}
