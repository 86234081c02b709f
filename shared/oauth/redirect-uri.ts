/**
 * Where a browser may be sent back to (OAuth 2.1 section 2.3): https, the own machine, or a scheme of
 * an installed app (RFC 8252 section 7). A wrong one would hand a code to a stranger, so texts are
 * compared as they are.
 */
import { isLoopbackHost } from '../egress/loopback.ts'

const lengthMax = 2048

/** Whether a client may name this address as one of its own. */
export function isRedirectUri(text: string): boolean {
  if (text.length > lengthMax || text.includes('#') || !URL.canParse(text)) return false
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:' || isLoopback(text)) return true
  // RFC 8252 section 7.1: a scheme of one's own is a domain name turned round, which has a dot.
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)
}

/** Whether the address is on the machine of who uses it. */
export function isLoopback(text: string): boolean {
  const url = new URL(text)
  return url.protocol === 'http:' && isLoopbackHost(url.hostname)
}

/** Whether the address asked for is one of these. */
export function isOneOf(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true
  return (
    isRedirectUri(asked) && isLoopback(asked) && registered.some((one) => isSameBut(one, asked))
  )
}

/** RFC 8252 section 7.3: an app on the own machine listens where it finds a free port. */
function isSameBut(registered: string, asked: string): boolean {
  if (!isLoopback(registered)) return false
  const [one, other] = [new URL(registered), new URL(asked)]
  one.port = ''
  other.port = ''
  return one.href === other.href
}

/** What a person recognizes of it: the host, or the scheme of an installed app. */
export function shownHost(text: string): string {
  const url = new URL(text)
  return url.hostname === '' ? url.protocol.slice(0, -1) : url.hostname
}
