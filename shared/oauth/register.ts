/**
 * Dynamic registration (RFC 7591), for clients that have no document of their own. Registration gives an id
 * and no access; access comes only from the owner's consent. A registration without consent is deleted
 * after a day.
 */
import type * as z from 'zod'
import { newToken } from '../auth/access-token.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { OAuthError } from './answer.ts'
import { oauthError } from './answer.ts'
import type { SentMetadata } from './client-metadata.ts'
import { metadataFrom, sentMetadata } from './client-metadata.ts'
import { isRedirectUri } from './redirect-uri.ts'

/** Answer to a registration (RFC 7591 section 3.2.1). */
export type ClientInformation = {
  client_id: string
  client_id_issued_at: number
  client_name: string
  redirect_uris: string[]
  grant_types: string[]
  response_types: string[]
  token_endpoint_auth_method: 'none'
  dpop_bound_access_tokens: boolean
}

/** Registers a client; `from` is its network address, by which registrations are limited. */
export async function registerClient(
  world: World,
  body: unknown,
  from: string,
): Promise<ClientInformation | OAuthError> {
  const sent = sentMetadata.safeParse(body)
  if (!sent.success) return unreadable(sent.error)
  const problem = registrationProblem(sent.data)
  if (problem) return problem
  const metadata = metadataFrom(sent.data)
  const id = newToken(world, 'client')
  await unbound(world.db).run('oauth_register_client', { client_id: id, metadata, client: from })
  return {
    client_id: id,
    client_id_issued_at: Math.floor(world.now().getTime() / 1000),
    client_name: metadata.name,
    redirect_uris: metadata.redirectUris,
    grant_types: ['authorization_code', ...(metadata.refreshes ? ['refresh_token'] : [])],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    dpop_bound_access_tokens: metadata.isBound,
  }
}

function unreadable(error: z.ZodError): OAuthError {
  const [first] = error.issues
  const field = first?.path.join('.') || 'the body'
  const isRedirect = first?.path[0] === 'redirect_uris'
  const code = isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  return oauthError(code, `${field}: ${first?.message ?? 'not readable'}`)
}

function registrationProblem(sent: SentMetadata): OAuthError | undefined {
  if (!sent.redirect_uris.every(isRedirectUri)) {
    return oauthError(
      'invalid_redirect_uri',
      'A redirect URI is https, http on loopback, or of a private-use scheme with a dot in it.',
    )
  }
  if (!sent.grant_types.includes('authorization_code') || !sent.response_types.includes('code')) {
    return oauthError(
      'invalid_client_metadata',
      'authorization_code with response type code is needed.',
    )
  }
  return undefined
}
