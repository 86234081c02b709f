/**
 * Whether a host is one that a mandate was given for. Pure and without packages, so that custody can
 * ask it too. Text is compared as it stands: what is not a plain lower-case host name matches
 * nothing, so no odd spelling of a merchant is ever taken for the merchant. It knows no public
 * suffixes: a merchant's domain was checked when the mandate was asked for.
 */

/** RFC 1123 section 2.1 in lower case, at least two labels, the last no number (so no IPv4). */
const hostName =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/
/** Where a merchant of local development listens; the port may be left out. */
const loopback = /^(localhost|127\.0\.0\.1)(:[1-9][0-9]{0,4})?$/

/**
 * Whether `host`, as `new URL(origin).host` tells it, is the merchant `domain` or, when they are
 * included, below it. A host has a port only on loopback: a loopback domain without one covers all.
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

/** The host of an origin as `hostMatches` wants it; null for what is no origin that can be paid. */
export function hostOf(origin: unknown): string | null {
  if (typeof origin !== 'string' || !URL.canParse(origin)) return null
  const url = new URL(origin)
  const isPaid = url.protocol === 'https:' || loopback.test(url.host)
  return isPaid && url.origin === origin ? url.host : null
}
