/**
 * Where a browser may be sent back to (OAuth 2.1 section 2.3): https, the own machine, or a scheme of
 * an installed app (RFC 8252 section 7). A wrong one would hand a code to a stranger, so texts are
 * compared as they are.
 */

const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost']
const lengthMax = 2048
/** Of what is shown of it: RFC 1035 section 2.3.4 has no longer names of hosts. */
const shownLengthMax = 253
/** RFC 3986 section 2: no spaces, which parsers take out, and no letters that only look like others. */
const printable = /^[\x21-\x7e]+$/

/** Whether a client may name this address as one of its own. */
export function isRedirectUri(text: string): boolean {
  if (text.length > lengthMax || !printable.test(text) || text.includes('#')) return false
  if (!URL.canParse(text) || shownHost(text).length > shownLengthMax) return false
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:' || isLoopback(text)) return true
  // RFC 8252 section 7.1: a scheme of one's own is a domain name turned round, which has a dot.
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)
}

/** Whether the address is on the machine of who uses it. */
export function isLoopback(text: string): boolean {
  const url = new URL(text)
  return url.protocol === 'http:' && loopbackHosts.includes(url.hostname)
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

/** Whether it is a program on this machine that the address opens, and no host on the network. */
export function isInstalledApp(text: string): boolean {
  return !['https:', 'http:'].includes(new URL(text).protocol)
}

/**
 * What a person recognizes of it: the host, with its port where it has one of its own, or the scheme of
 * an installed app with its colon. A scheme can be spelled as the name of any host, and what follows it
 * too, so neither may be read as one.
 */
export function shownHost(text: string): string {
  const url = new URL(text)
  if (isInstalledApp(text)) return url.protocol
  return isLoopback(text) ? url.hostname : url.host
}
