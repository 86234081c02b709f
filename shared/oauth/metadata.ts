/**
 * Discovery documents: of the authorization server (RFC 8414), also under the names of OpenID Connect
 * Discovery, by which clients find an issuer with a path; and of the protected resources (RFC 9728).
 */
import { proofAlgorithms } from '../auth/access-token.ts'
import { serviceTitle } from '../contract/documents/about.ts'
import type { Config } from '../env.ts'
import type { McpPath } from '../http/answer.ts'
import { deviceGrant, issuerOf, resourcesOf, scopesSupported } from './issuer.ts'

type Places = Pick<Config, 'BASE_URL' | 'WEB_URL'>
type Settings = Places & Pick<Config, 'OAUTH_CLIENT_DOCUMENTS'>

/** Returns the metadata of the authorization server. */
export function serverMetadata(config: Settings) {
  const issuer = issuerOf(config)
  return {
    issuer,
    authorization_endpoint: `${config.WEB_URL}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    registration_endpoint: `${issuer}/register`,
    device_authorization_endpoint: `${issuer}/device`,
    scopes_supported: scopesSupported,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', deviceGrant],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: config.OAUTH_CLIENT_DOCUMENTS !== 'false',
    dpop_signing_alg_values_supported: proofAlgorithms,
    protected_resources: resourcesOf(config),
    service_documentation: `${config.BASE_URL}/skill.md`,
  }
}

/**
 * Returns the same for clients that require OpenID Connect Discovery. There are no ID tokens, but section 3
 * of that specification requires these three fields, and clients refuse a document without them.
 */
export function openidMetadata(config: Settings) {
  return {
    ...serverMetadata(config),
    jwks_uri: `${config.WEB_URL}/jwks.json`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
  }
}

/**
 * Returns the metadata of one of the two resources, by the name that the client uses: it compares that with
 * `resource` (RFC 9728 section 3.3).
 */
export function resourceMetadata(config: Places, path: '' | McpPath) {
  return {
    resource: `${config.BASE_URL}${path}`,
    authorization_servers: [issuerOf(config)],
    // A client that was told no scope requests all of these, and the owner may allow less. The tools are for
    // agents that pay; other clients ask for more when a request needs more.
    scopes_supported: path === '' ? ['read'] : ['read', 'vault', 'pay'],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: proofAlgorithms,
    resource_name: serviceTitle,
    resource_documentation: `${config.BASE_URL}/skill.md`,
  }
}
