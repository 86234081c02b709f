/**
 * An app's request to the owner (OAuth 2.1 section 4.1.1). The browser is sent back only to an address that
 * the client registered; until that is established, errors are shown on the page. Reading a request decides
 * and changes nothing.
 */
import type { World } from '../world.ts'
import { findClient } from './client.ts'
import type { Client } from './client-metadata.ts'
import { type GrantScope, isResource, scopesIn } from './issuer.ts'
import {
  isInstalledApp,
  isLoopback,
  isRedirectUri,
  isRegisteredRedirect,
  redirectUriRule,
  shownHost,
} from './redirect-uri.ts'
import { sendBack } from './send-back.ts'

/** A request that may be shown to the owner; all of its content is the unverified claim of a stranger. */
export type AuthorizationRequest = {
  client: Client
  redirectUri: string
  /** Part of the address that a person recognizes: a host, or an installed app's scheme with its colon. */
  redirectHost: string
  /** True if the browser is sent to a program on its own machine, which could be any program. */
  isLocal: boolean
  /** Requested scopes, narrowest first. */
  scopes: GrantScope[]
  state?: string
  /** PKCE challenge, S256 (RFC 7636), base64url. */
  codeChallenge: string
  /** Thumbprint of the key to which tokens must be bound (RFC 9449 section 10). */
  dpopKey?: string
}

/** Result of reading a request. */
export type ReadRequest =
  /** Reason for the page to show; the browser is sent nowhere. */
  | { kind: 'refused'; reason: string }
  /** Address that tells the client its error. */
  | { kind: 'sent_back'; location: string }
  | { kind: 'asked'; request: AuthorizationRequest }

type Wrong = { error: string; description: string }

const stateLengthMax = 2048
const challengeForm = /^[A-Za-z0-9_-]{43}$/

/** Reads the query of the authorization endpoint. */
export async function readAuthorizationRequest(
  world: World,
  params: URLSearchParams,
): Promise<ReadRequest> {
  const id = only(params, 'client_id')
  const redirectUri = only(params, 'redirect_uri')
  if (id === undefined) return { kind: 'refused', reason: 'The link does not name one app.' }
  if (redirectUri === undefined) {
    return { kind: 'refused', reason: 'The link does not say where to go back to.' }
  }
  const client = await findClient(world, id)
  if ('refused' in client) return { kind: 'refused', reason: client.refused }
  if (!isRegisteredRedirect(client.redirectUris, redirectUri)) {
    return { kind: 'refused', reason: unregisteredReason(redirectUri) }
  }
  const asked = readParameters(world, params, client, redirectUri)
  if (!('error' in asked)) return { kind: 'asked', request: asked }
  const { error, description } = asked
  const answer = { error, error_description: description, ...stateOf(params) }
  return { kind: 'sent_back', location: sendBack(world, redirectUri, answer) }
}

function unregisteredReason(redirectUri: string): string {
  return isRedirectUri(redirectUri)
    ? 'The app did not name the address that it is called from.'
    : `The app wants the answer at an address that cannot be used. ${redirectUriRule}`
}

function readParameters(
  { config }: Pick<World, 'config'>,
  params: URLSearchParams,
  client: Client,
  redirectUri: string,
): AuthorizationRequest | Wrong {
  const wrong = unsupported(params) ?? wrongProof(params)
  if (wrong) return wrong
  if (!params.getAll('resource').every((resource) => isResource(config, resource))) {
    return { error: 'invalid_target', description: 'The resource is not one of this service.' }
  }
  const asked = scopesIn(params.get('scope') ?? '')
  if (!asked) return { error: 'invalid_scope', description: 'A scope is not known here.' }
  const dpopKey = params.get('dpop_jkt')
  return {
    client,
    redirectUri,
    redirectHost: shownHost(redirectUri),
    isLocal: isLoopback(redirectUri) || isInstalledApp(redirectUri),
    scopes: asked.length === 0 ? ['read'] : asked,
    ...stateOf(params),
    codeChallenge: params.get('code_challenge') ?? '',
    ...(dpopKey === null ? {} : { dpopKey }),
  }
}

function unsupported(params: URLSearchParams): Wrong | undefined {
  const twice = [...new Set(params.keys())].find(
    (name) => name !== 'resource' && params.getAll(name).length > 1,
  )
  if (twice !== undefined) return invalidRequest('A parameter is there more than once.')
  if ((params.get('state') ?? '').length > stateLengthMax)
    return invalidRequest('The state is too long.')
  if (params.has('request'))
    return { ...invalidRequest('Not supported.'), error: 'request_not_supported' }
  if (params.has('request_uri')) {
    return { ...invalidRequest('Not supported.'), error: 'request_uri_not_supported' }
  }
  const type = params.get('response_type')
  if (type === null) return invalidRequest('response_type is missing.')
  if (type !== 'code') {
    return { error: 'unsupported_response_type', description: 'response_type is code.' }
  }
  return ['query', null].includes(params.get('response_mode'))
    ? undefined
    : invalidRequest('response_mode is query.')
}

function wrongProof(params: URLSearchParams): Wrong | undefined {
  const isS256 = params.get('code_challenge_method') === 'S256'
  if (!isS256 || !challengeForm.test(params.get('code_challenge') ?? '')) {
    return invalidRequest('PKCE with S256 is required.')
  }
  const key = params.get('dpop_jkt')
  return key === null || challengeForm.test(key)
    ? undefined
    : invalidRequest('dpop_jkt is no thumbprint.')
}

function invalidRequest(description: string): Wrong {
  return { error: 'invalid_request', description }
}

function only(params: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = params.getAll(name)
  return others.length === 0 && value !== '' ? value : undefined
}

function stateOf(params: URLSearchParams): { state?: string } {
  const state = params.get('state')
  const fits = state !== null && state.length <= stateLengthMax
  return fits && params.getAll('state').length === 1 ? { state } : {}
}
