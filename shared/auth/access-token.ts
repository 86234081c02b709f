/**
 * What the authorization server gives out (RFC 6749): access tokens, refresh tokens, codes, and the
 * ids of registered clients. All are opaque; the database knows their keyed hash alone. The hash of a
 * token that is bound to a key (RFC 9449) covers that key, so without its proof it is unknown.
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

/** What is given out. */
export type Kind = keyof typeof prefixes

type Keyed = Pick<World, 'config'>

/** A new one. */
export function newToken(world: Pick<World, 'randomBytes'>, kind: Kind): string {
  return randomToken(prefixes[kind], (length) => world.randomBytes(length))
}

/** Whether a text can be one of this kind at all. */
export function isOfKind(kind: Kind, text: string): boolean {
  return isToken(prefixes[kind], text)
}

/** What stands for it in the database; `dpopKey` is the thumbprint of the key that it is bound to. */
export function digestOfToken(world: Keyed, token: string, dpopKey?: string): Promise<string> {
  const bound = dpopKey === undefined ? token : `${token}.${dpopKey}`
  return credentialOf(bound, required(world.config, 'API_KEY_PEPPER'))
}

/**
 * The refresh token that follows on another. It is worked out, not drawn: who did not get the answer
 * and asks again gets the same one, without it being kept anywhere.
 */
export async function nextRefreshToken(world: Keyed, token: string): Promise<string> {
  const secret = await credentialOf(`next:${token}`, required(world.config, 'API_KEY_PEPPER'))
  return derivedToken(prefixes.refresh, secret)
}
