/**
 * Revocation (RFC 7009): a refresh token ends the whole grant, an access token itself alone. The answer
 * is the same whether there was anything to end. An access token that is bound to a key is found only
 * beside a proof of it; without one, it lives out its minutes.
 */
import { digestOfToken, isOfKind } from '../auth/access-token.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { OAuthError } from './answer.ts'
import { wrong } from './answer.ts'
import type { TokenRequest } from './token.ts'

/** Ends what the form names; undefined is the empty answer of success. */
export async function revokeToken(
  world: World,
  { form, proof }: TokenRequest,
): Promise<OAuthError | undefined> {
  const token = form.get('token')
  if (token === undefined) return wrong('invalid_request', 'token is missing.')
  const isAccess = isOfKind('access', token)
  if (isAccess || isOfKind('refresh', token)) {
    const digest = await digestOfToken(world, token, isAccess ? proof?.key : undefined)
    await unbound(world.db).run('oauth_revoke', { token_digest: digest })
  }
  return undefined
}
