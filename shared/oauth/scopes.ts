/**
 * What an app can ask for and be given (RFC 6749 section 3.3). `offline_access` is taken from clients
 * that ask for it, and changes nothing: whether there are refresh tokens follows from the client.
 */

/** What can be asked for. */
export const scopesSupported = ['read', 'pay', 'full', 'vault', 'offline_access'] as const
/** What a grant holds. */
export type GrantScope = Exclude<(typeof scopesSupported)[number], 'offline_access'>

const narrowestFirst: readonly GrantScope[] = ['read', 'vault', 'pay', 'full']

/** The scopes that a parameter names, narrowest first; undefined where one is not known. */
export function scopesIn(parameter: string): GrantScope[] | undefined {
  const asked = parameter.split(' ').filter((name) => name !== '')
  const known: readonly string[] = scopesSupported
  if (!asked.every((name) => known.includes(name))) return undefined
  return narrowestFirst.filter((name) => asked.includes(name))
}
