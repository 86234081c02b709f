/**
 * The one form in which paths are compared, so that an address in other words is the same address. What
 * is sent with a secret is sent in this form.
 */

/** RFC 3986 section 6.2.2: dot segments, case and needless percents; slashes that are doubled as well. */
export function normalUrl(address: URL): URL {
  const url = new URL(address)
  url.hash = ''
  // A percent that is decoded can make another dot segment, which the setter takes out.
  url.pathname = withoutNeedlessPercents(url.pathname)
  url.pathname = url.pathname.replaceAll(/\/{2,}/g, '/')
  url.search = withoutNeedlessPercents(url.search)
  return url
}

/** RFC 3986 section 2.3: letters, digits and four signs mean the same with a percent and without. */
function withoutNeedlessPercents(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (written) => {
    const sign = String.fromCharCode(Number.parseInt(written.slice(1), 16))
    return /[\w.~-]/.test(sign) ? sign : written.toUpperCase()
  })
}
