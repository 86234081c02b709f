/**
 * The domain of a site, which is how a code in a mail finds the entry that it may be used with: who
 * is proven to have written from a domain, and the site at that domain, are taken for the same.
 */
import { isLoopbackHost } from '../egress/safe-fetch.ts'
import type { Config } from '../env.ts'
import { registrableDomain } from '../mailbox/registrable-domain.ts'

/**
 * The registrable domain of an origin; undefined where it has none, as an IP address. In the local
 * world a loopback host stands for itself.
 */
export function siteDomainOf(
  origin: string,
  { allowLoopback }: Pick<Config, 'allowLoopback'>,
): string | undefined {
  const host = new URL(origin).hostname
  return allowLoopback && isLoopbackHost(host) ? host : registrableDomain(host)
}
