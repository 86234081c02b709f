/**
 * Access for programs that run in a page of another origin. Only for functions that read no cookie: such a
 * page knows nothing but the token that it was given itself.
 */

/** The wildcard covers no Authorization header (Fetch standard, section 3.2.4). */
const headersOfAnyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-expose-headers': '*',
  'access-control-max-age': '3600',
}

/** Lets pages of any origin send the request and read the whole response. */
export function allowAnyOrigin(headers: Headers): void {
  for (const [name, value] of Object.entries(headersOfAnyOrigin)) headers.set(name, value)
}
