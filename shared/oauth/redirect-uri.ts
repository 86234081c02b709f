/**
 * Addresses to which a browser may be sent back (OAuth 2.1 section 2.3): https, loopback, or the scheme of
 * an installed app (RFC 8252 section 7). A wrong address would give a code to a stranger, so addresses are
 * compared as exact strings.
 */

const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost']
const lengthMax = 2048
/** Schemes that browsers open themselves, or send to the user's mail or to a web page. */
const browserSchemes =
  /^(https?|wss?|ftp|file|filesystem|blob|data|about|javascript|vbscript|view-source|mailto|web\+.*):$/
/** Longest part that is shown: host names are not longer (RFC 1035 section 2.3.4). */
const shownLengthMax = 253
/** RFC 3986 section 2: no spaces, which parsers remove, and no lookalikes of ASCII letters. */
const printable = /^[\x21-\x7e]+$/

/** The addresses that a client may register, in words for its developer. */
export const redirectUriRule =
  'A redirect URI is https, http on loopback, or of the private-use scheme of an installed app.'

/** True if a client may register this address. */
export function isRedirectUri(text: string): boolean {
  if (text.length > lengthMax || !printable.test(text) || text.includes('#')) return false
  if (!URL.canParse(text) || shownHost(text).length > shownLengthMax) return false
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:' || isLoopback(text)) return true
  // RFC 8252 section 7.1 asks for a reversed domain name, but editors register `cursor:` and `vscode:`. With
  // PKCE, which is required here, a code is of no use to another program that claims the same scheme.
  // An address that contains another one, such as one for a browser, could lead on to it.
  return !browserSchemes.test(url.protocol) && !/https?:/i.test(text)
}

/** True if the address is http on the user's own machine. */
export function isLoopback(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return url.protocol === 'http:' && loopbackHosts.includes(url.hostname)
}

/** True if the requested address is one of the registered ones; a loopback address may use another port. */
export function isRegisteredRedirect(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true
  return (
    isRedirectUri(asked) && isLoopback(asked) && registered.some((one) => isSameBut(one, asked))
  )
}

/** Compares loopback addresses without ports: an app listens on any free one (RFC 8252 section 7.3). */
function isSameBut(registered: string, asked: string): boolean {
  if (!isLoopback(registered)) return false
  const [one, other] = [new URL(registered), new URL(asked)]
  one.port = ''
  other.port = ''
  return one.href === other.href
}

/** True if the address opens an installed app and not a host on the network. */
export function isInstalledApp(text: string): boolean {
  return !['https:', 'http:'].includes(new URL(text).protocol)
}

/**
 * Returns the part of the address that a person recognizes: the host, with a port if it has its own, or the
 * scheme of an installed app with its colon. A scheme and the text after it can imitate any host name, so
 * the colon marks a scheme.
 */
export function shownHost(text: string): string {
  const url = new URL(text)
  if (isInstalledApp(text)) return url.protocol
  return isLoopback(text) ? url.hostname : url.host
}
