/**
 * Scopes that an app can request and be granted (RFC 6749 section 3.3). `offline_access` is accepted but
 * has no effect: the metadata of the client decides whether it gets refresh tokens.
 */

/** Scopes that can be requested. */
export const scopesSupported = ['read', 'pay', 'full', 'vault', 'offline_access'] as const
/** Scope that a grant can hold. */
export type GrantScope = Exclude<(typeof scopesSupported)[number], 'offline_access'>

const narrowestFirst: readonly GrantScope[] = ['read', 'vault', 'pay', 'full']

/** Returns the scopes that a parameter names, narrowest first; undefined if one is unknown. */
export function scopesIn(parameter: string): GrantScope[] | undefined {
  const asked = parameter.split(' ').filter((name) => name !== '')
  const known: readonly string[] = scopesSupported
  if (!asked.every((name) => known.includes(name))) return undefined
  return narrowestFirst.filter((name) => asked.includes(name))
}
