/**
 * Normal form in which paths are compared, so that two spellings of an address are equal. A request with a
 * secret is sent in this form.
 */

/** Normalizes an address (RFC 3986 section 6.2.2), merges doubled slashes and drops the fragment. */
export function normalUrl(address: URL): URL {
  const url = new URL(address)
  url.hash = ''
  // A decoded percent can create another dot segment, which the setter removes.
  url.pathname = withoutNeedlessPercents(url.pathname)
  url.pathname = url.pathname.replaceAll(/\/{2,}/g, '/')
  url.search = withoutNeedlessPercents(url.search)
  return url
}

/** Decodes the unreserved characters of RFC 3986 section 2.3, which mean the same encoded and not. */
function withoutNeedlessPercents(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (written) => {
    const sign = String.fromCharCode(Number.parseInt(written.slice(1), 16))
    return /[\w.~-]/.test(sign) ? sign : written.toUpperCase()
  })
}
