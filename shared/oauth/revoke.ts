/**
 * Revocation (RFC 7009): a refresh token ends the whole grant, an access token only itself. The answer does
 * not show whether a token was found. An access token that is bound to a key is found only with a proof of
 * the key; without one it stays valid until it expires.
 */
import { digestOfToken, isTokenOfKind } from '../auth/access-token.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { OAuthError } from './answer.ts'
import { oauthError } from './answer.ts'
import type { TokenRequest } from './token.ts'

/** Revokes the token in the form; undefined is the empty answer of success. */
export async function revokeToken(
  world: World,
  { form, proof }: TokenRequest,
): Promise<OAuthError | undefined> {
  const token = form.get('token')
  if (token === undefined) return oauthError('invalid_request', 'token is missing.')
  const isAccess = isTokenOfKind('access', token)
  if (isAccess || isTokenOfKind('refresh', token)) {
    const digest = await digestOfToken(world, token, isAccess ? proof?.key : undefined)
    await unbound(world.db).run('oauth_revoke', { token_digest: digest })
  }
  return undefined
}
