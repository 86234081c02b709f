/**
 * Dynamic registration (RFC 7591), for clients that have no document of their own. Registration gives an id
 * and no access; access comes only from the owner's consent. A registration without consent is deleted
 * after a day.
 */
import type * as z from 'zod'
import { newToken } from '../auth/access-token.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import { type OAuthError, oauthError } from './answer.ts'
import {
  type ClientMetadata,
  metadataFrom,
  type SentMetadata,
  sentMetadata,
} from './client-metadata.ts'
import { deviceGrant } from './issuer.ts'
import { redirectUriRule } from './redirect-uri.ts'

/** Answer to a registration (RFC 7591 section 3.2.1). */
export type ClientInformation = {
  client_id: string
  client_id_issued_at: number
  client_name: string
  redirect_uris: string[]
  /** Addresses that were sent and not registered; absent if there are none. */
  redirect_uris_dropped?: string[]
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
  const metadata = metadataFrom(sent.data)
  const problem = registrationProblem(sent.data, metadata)
  if (problem) return problem
  const usesBrowser = metadata.redirectUris.length > 0
  const dropped = sent.data.redirect_uris.filter((uri) => !metadata.redirectUris.includes(uri))
  const id = newToken(world, 'client')
  await unbound(world.db).run('oauth_register_client', { client_id: id, metadata, client: from })
  return {
    client_id: id,
    client_id_issued_at: Math.floor(world.now().getTime() / 1000),
    client_name: metadata.name,
    redirect_uris: metadata.redirectUris,
    ...(dropped.length > 0 && { redirect_uris_dropped: dropped }),
    grant_types: [
      ...(usesBrowser ? ['authorization_code'] : []),
      ...(metadata.usesDeviceCodes ? [deviceGrant] : []),
      ...(metadata.refreshes ? ['refresh_token'] : []),
    ],
    response_types: usesBrowser ? ['code'] : [],
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

function registrationProblem(
  sent: SentMetadata,
  { redirectUris, usesDeviceCodes }: ClientMetadata,
): OAuthError | undefined {
  const isDeviceOnly = usesDeviceCodes && sent.redirect_uris.length === 0
  if (isDeviceOnly) return undefined
  if (redirectUris.length === 0) return oauthError('invalid_redirect_uri', redirectUriRule)
  if (!sent.grant_types.includes('authorization_code') || !sent.response_types.includes('code')) {
    return oauthError(
      'invalid_client_metadata',
      'authorization_code with response type code is needed.',
    )
  }
  return undefined
}
