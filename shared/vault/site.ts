/**
 * The site of an entry, as the origin that its secrets may go to. Only the form is judged here, once
 * and for ever; whether the host may be reached is asked again each time by the guarded client.
 */
import { isLoopbackHost } from '../egress/safe-fetch.ts'

/** The canonical origin of what somebody calls a site, or a sentence why it has none. */
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
  // A name with the dot is another origin to a browser and the same server to everybody else.
  if (url.hostname.endsWith('.')) return { refused: 'The host ends with a dot.' }
  return { origin: url.origin }
}
