/**
 * Canonical origin of an entry's site, to which its secrets may go. Only the form of the address is judged
 * here, once; the guarded client checks before each request whether the host may be reached.
 */
import { isLoopbackHost } from '../../egress/safe-fetch.ts'

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
