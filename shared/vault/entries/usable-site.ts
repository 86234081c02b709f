/**
 * Check that a site may have an entry: it has an origin, requests could reach it, and it is not this
 * service. An agent that could use the owner's login for this service would have the owner's rights.
 */
import { checkUrl, isLoopbackHost } from '../../egress/safe-fetch.ts'
import type { Config } from '../../env.ts'
import { siteOrigin } from './site.ts'

type Service = Pick<Config, 'allowLoopback' | 'BASE_URL' | 'WEB_URL'>

/** Returns the canonical origin of a site, or a sentence that says why nothing is stored for it. */
export function usableSite(
  text: string,
  config: Service,
): { origin: string } | { refused: string } {
  const site = siteOrigin(text, config)
  if ('refused' in site) return site
  const checked = checkUrl(site.origin, config)
  if ('refused' in checked) return checked
  const isOwn = [config.BASE_URL, config.WEB_URL].some((own) => hostOf(own) === hostOf(site.origin))
  return isOwn ? { refused: 'The site is this service itself.' } : site
}

/** Returns the host, or on loopback the port, since many sites share one name on a single machine. */
function hostOf(address: string): string {
  const { hostname, port } = new URL(address)
  return isLoopbackHost(hostname) ? `loopback:${port}` : hostname
}
