/**
 * Names of the authorization server and of the resources it protects. The operations and the MCP endpoint
 * are one resource server with two names: a token for one is valid for both.
 */
import type { Config } from '../env.ts'

type IssuerPlaces = Pick<Config, 'BASE_URL' | 'WEB_URL'>

/** Returns the issuer identifier (RFC 8414 section 2). */
export function issuerOf({ BASE_URL }: IssuerPlaces): string {
  return `${BASE_URL}/oauth`
}

/** Returns the resource indicators for which a token can be requested (RFC 8707). */
export function resourcesOf({ BASE_URL }: IssuerPlaces): readonly string[] {
  return [BASE_URL, `${BASE_URL}/mcp`]
}

/** True if a client may name this resource, with or without a slash at its end. */
export function isResource(config: IssuerPlaces, resource: string): boolean {
  return resourcesOf(config).includes(resource.replace(/\/$/, ''))
}

/** Grant type of programs without a browser (RFC 8628 section 3.4). */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

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
