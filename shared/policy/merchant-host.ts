/**
 * Decides whether a mandate was given for a host. Pure and without packages, so that custody can use it
 * too. Text is compared exactly: anything but a plain lower-case host name matches nothing, so an odd
 * spelling never passes for a merchant. Public suffixes are not known here: the domain was checked when the
 * mandate was requested.
 */

/** RFC 1123 section 2.1 in lower case, at least two labels, the last not a number (so no IPv4). */
const hostName =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/
/** Address of a merchant in local development; the port may be left out. */
const loopback = /^(localhost|127\.0\.0\.1)(:[1-9][0-9]{0,4})?$/

/**
 * True if `host`, in the form of `new URL(origin).host`, is the merchant's `domain` or, with subdomains,
 * below it. A host has a port only on loopback; a loopback domain without a port covers all ports.
 */
export function hostMatches(
  domain: string,
  includeSubdomains: boolean,
  host: string | null,
): boolean {
  if (host === null) return false
  if (host === domain) return hostName.test(host) || loopback.test(host)
  if (includeSubdomains && host.endsWith(`.${domain}`)) {
    return hostName.test(domain) && hostName.test(host)
  }
  return !domain.includes(':') && loopback.exec(host)?.[1] === domain
}

/** Returns the host of an origin in the form of `hostMatches`; null if the origin cannot be paid. */
export function payableHostOf(origin: unknown): string | null {
  if (typeof origin !== 'string' || !URL.canParse(origin)) return null
  const url = new URL(origin)
  const isPaid = url.protocol === 'https:' || loopback.test(url.host)
  return isPaid && url.origin === origin ? url.host : null
}
