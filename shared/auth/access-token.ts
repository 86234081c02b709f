/**
 * Tokens of the authorization server (RFC 6749): access tokens, refresh tokens, codes and the ids of
 * registered clients. All are opaque; the database stores only their keyed hash. If a token is bound to a
 * key (RFC 9449), the hash covers that key, so the token is found only with a proof of it.
 */
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'
import { derivedToken, isToken, randomToken } from './token-form.ts'

const prefixes = {
  access: 'aoa_at_',
  refresh: 'aoa_rt_',
  code: 'aoa_code_',
  client: 'aoa_c_',
} as const

/** Kind of a token or client id. */
export type Kind = keyof typeof prefixes

type Keyed = Pick<World, 'config'>

/** Makes a new random token of this kind. */
export function newToken(world: Pick<World, 'randomBytes'>, kind: Kind): string {
  return randomToken(prefixes[kind], (length) => world.randomBytes(length))
}

/** True if the text has the prefix, form and checksum of a token of this kind. */
export function isTokenOfKind(kind: Kind, text: string): boolean {
  return isToken(prefixes[kind], text)
}

/** Returns the keyed hash that the database stores; `dpopKey` is the thumbprint of the bound key. */
export function digestOfToken(world: Keyed, token: string, dpopKey?: string): Promise<string> {
  const bound = dpopKey === undefined ? token : `${token}.${dpopKey}`
  return credentialOf(bound, required(world.config, 'API_KEY_PEPPER'))
}

/**
 * Returns the refresh token that follows this one. It is derived, not random: a client that lost the answer
 * and asks again gets the same token, and nothing has to be stored for that.
 */
export async function nextRefreshToken(world: Keyed, token: string): Promise<string> {
  const secret = await credentialOf(`next:${token}`, required(world.config, 'API_KEY_PEPPER'))
  return derivedToken(prefixes.refresh, secret)
}
