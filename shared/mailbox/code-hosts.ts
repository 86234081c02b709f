/**
 * The hosts at which the codes of a mail may be used: the one that the mail is from, and those that its
 * own links name, as far as they are the sender's. A mail may hold words of others, so a link alone
 * opens nothing: the owner must have a login at that host as well.
 */
import { addressesIn } from './code-links.ts'
import { registrableDomain } from './registrable-domain.ts'

/** Addresses of a mail that are looked at, and hosts that its codes may have. */
const addressesMax = 1_000
const hostsMax = 20

/** The hosts, the sender's first; none where nothing proves who sent the mail. */
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

/** An operator speaks for the customers below its domain, none of them for another. */
function isOf(domain: string, host: string): boolean {
  const own = registrableDomain(host)
  return own !== undefined && (own === domain || own.endsWith(`.${domain}`))
}
