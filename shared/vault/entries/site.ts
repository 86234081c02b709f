/**
 * Canonical origin of an entry's site, to which its secrets may go. Only the form of the address is judged
 * here, once; the guarded client checks before each request whether the host may be reached.
 */
import { checkUrl, isLoopbackHost } from '../../egress/safe-fetch.ts'
import type { Config } from '../../env.ts'

/** Returns the canonical origin of a site as somebody wrote it, or a sentence that says why it has none. */
export function siteOrigin(
  text: string,
  { allowLoopback }: { allowLoopback: boolean },
): { origin: string } | { refused: string } {
  if (text.length > 2048) return { refused: 'The site is longer than 2048 characters.' }
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`
  if (!URL.canParse(address))
    return { refused: 'The site is no address such as https://example.com.' }
  const url = new URL(address)
  if (url.username !== '' || url.password !== '') {
    return { refused: 'The site carries a user name or password; give them as their own fields.' }
  }
  const isLoopback = isLoopbackHost(url.hostname)
  if (isLoopback && allowLoopback && url.protocol === 'http:') return { origin: url.origin }
  if (url.protocol !== 'https:') return { refused: 'Secrets go to https sites only.' }
  if (isLoopback && !allowLoopback) return { refused: 'The site is this machine itself.' }
  // To a browser, a name with a final dot is another origin; everything else reaches the same server.
  if (url.hostname.endsWith('.')) return { refused: 'The host ends with a dot.' }
  return { origin: url.origin }
}

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
