/**
 * A sign-in link of a mail, which is a secret and an address at once. It is opened at the site of the
 * entry alone: a link that leads anywhere else, as over a server that counts clicks, is not followed.
 */

/** The address to open, without the part that stays in a browser; or why it is not opened. */
export function linkAddress(link: string, origin: string): URL | { refused: string } {
  const url = URL.canParse(link) ? new URL(link) : undefined
  if (url?.origin !== origin) return { refused: 'The link leads to another site than the entry.' }
  url.hash = ''
  return url
}

/** What no answer may carry back of a link: itself, and each part that could be the token in it. */
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

/** Parameters whose value is a token, whatever it looks like. */
const tokenNames =
  /(token|code|key|otp|ticket|hash|secret|signature|magic|nonce|auth|jwt|^(t|k|c|sig|sid|id))$/i
const namedMin = 6

/** Longer than words are, or with a digit or capitals within: a page shows words such as `signup` anywhere. */
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
