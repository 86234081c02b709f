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
  const parts = [...searchParams.values(), ...inHash.values(), ...inHash.keys()]
  const segments = pathname.split('/')
  return [...new Set([link, href, ...[...parts, ...segments, pathname + search].filter(isToken)])]
}

/** Longer than words are, or with a digit in it: a page shows words such as `signup` anywhere. */
function isToken(text: string): boolean {
  return text.length >= 16 || (text.length >= 6 && /[0-9]/.test(text))
}
