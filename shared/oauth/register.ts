/**
 * Dynamic registration (RFC 7591), for clients that have no document of their own. Whoever registers
 * gets an id and nothing else: it is the owner's consent that gives access. A registration that nobody
 * consents to is forgotten after a day.
 */
import type * as z from 'zod'
import { newToken } from '../auth/access-token.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { OAuthError } from './answer.ts'
import { wrong } from './answer.ts'
import type { ToldMetadata } from './client-metadata.ts'
import { metadataFrom, toldMetadata } from './client-metadata.ts'
import { isRedirectUri } from './redirect-uri.ts'

/** What a client is told about itself (RFC 7591 section 3.2.1). */
export type Registration = {
  client_id: string
  client_id_issued_at: number
  client_name: string
  redirect_uris: string[]
  grant_types: string[]
  response_types: string[]
  token_endpoint_auth_method: 'none'
  dpop_bound_access_tokens: boolean
}

/** Registers a client; `from` is its network address, by which registering is limited. */
export async function registerClient(
  world: World,
  body: unknown,
  from: string,
): Promise<Registration | OAuthError> {
  const told = toldMetadata.safeParse(body)
  if (!told.success) return unreadable(told.error)
  const problem = problemOf(told.data)
  if (problem) return problem
  const metadata = metadataFrom(told.data)
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
  return wrong(code, `${field}: ${first?.message ?? 'not readable'}`)
}

function problemOf(told: ToldMetadata): OAuthError | undefined {
  if (!told.redirect_uris.every(isRedirectUri)) {
    return wrong(
      'invalid_redirect_uri',
      'A redirect URI is https, http on loopback, or of a private-use scheme with a dot in it.',
    )
  }
  if (!told.grant_types.includes('authorization_code') || !told.response_types.includes('code')) {
    return wrong('invalid_client_metadata', 'authorization_code with response type code is needed.')
  }
  return undefined
}
