/**
 * Sign-in links of mails. A link is a secret and an address at once. It is opened only at the site of the
 * entry: a link that leads anywhere else, such as to a click-counting server, is not followed.
 */

/** Returns the address to open, without its fragment, or a sentence that says why it is not opened. */
export function linkAddress(link: string, origin: string): URL | { refused: string } {
  const url = URL.canParse(link) ? new URL(link) : undefined
  if (url?.origin !== origin) return { refused: 'The link leads to another site than the entry.' }
  url.hash = ''
  return url
}

/** Returns the texts that no answer may carry back: the link and each part that could be its token. */
export function linkSecrets(link: string): string[] {
  const { href, pathname, search, hash, searchParams } = new URL(link)
  const inHash = new URLSearchParams(hash.slice(1))
  const named = [...searchParams, ...inHash].flatMap(([name, value]) =>
    isToken(value) || (tokenNames.test(name) && value.length >= namedMin) ? [value] : [],
  )
  const segments = pathname.split('/').flatMap((segment) => [segment, decoded(segment)])
  const others = [...inHash.keys(), ...segments, pathname + search].filter(isToken)
  return [...new Set([link, href, ...named, ...others])]
}

/** Names of parameters whose value is a token, even if it does not look random. */
const tokenNames =
  /(token|code|key|otp|ticket|hash|secret|signature|magic|nonce|auth|jwt|^(t|k|c|sig|sid|id))$/i
const namedMin = 6

/** True if a text is not a mere word by its length, digits or capitals: pages show `signup` anywhere. */
function isToken(text: string): boolean {
  if (text.length >= 16 || (text.length >= 6 && /[0-9]/.test(text))) return true
  return text.length >= 8 && /[A-Z].*[A-Z]/.test(text.slice(1))
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
