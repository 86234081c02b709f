/**
 * What clients discover: the authorization server (RFC 8414, and under the names of OpenID Connect
 * Discovery, by which clients find an issuer with a path), and what it protects (RFC 9728).
 */
import { proofAlgorithms } from '../auth/dpop.ts'
import { serviceTitle } from '../contract/about.ts'
import type { Config } from '../env.ts'
import { issuerOf, resourcesOf } from './issuer.ts'
import { scopesSupported } from './scopes.ts'

type Places = Pick<Config, 'BASE_URL' | 'WEB_URL'>

/** The authorization server. */
export function serverMetadata(config: Places) {
  const issuer = issuerOf(config)
  return {
    issuer,
    authorization_endpoint: `${config.WEB_URL}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    registration_endpoint: `${issuer}/register`,
    scopes_supported: scopesSupported,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    dpop_signing_alg_values_supported: proofAlgorithms,
    protected_resources: resourcesOf(config),
    service_documentation: `${config.BASE_URL}/skill.md`,
  }
}

/**
 * The same for clients that read it as OpenID Connect Discovery demands. There are no ID tokens; its
 * section 3 wants these three fields all the same, and clients refuse a document without them.
 */
export function openidMetadata(config: Places) {
  return {
    ...serverMetadata(config),
    jwks_uri: `${config.WEB_URL}/jwks.json`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
  }
}

/** One of the two names of what is protected; `path` is empty or `/mcp`. */
export function resourceMetadata(config: Places, path: '' | '/mcp') {
  return {
    resource: `${config.BASE_URL}${path}`,
    authorization_servers: [issuerOf(config)],
    // Clients that are told of no scope ask for all of these: more is asked for when it is needed.
    scopes_supported: ['read'],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: proofAlgorithms,
    resource_name: serviceTitle,
    resource_documentation: `${config.BASE_URL}/skill.md`,
  }
}
