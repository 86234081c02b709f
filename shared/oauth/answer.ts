/**
 * Errors of the authorization server's endpoints as values: those of RFC 6749 section 5.2 and of the RFCs
 * that extend it. An error never tells which part of a secret was wrong.
 */

/** HTTP status of each error. */
export const oauthErrors = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_dpop_proof: 400,
  invalid_client_metadata: 400,
  invalid_redirect_uri: 400,
  unauthorized_client: 400,
  authorization_pending: 400,
  slow_down: 400,
  access_denied: 400,
  expired_token: 400,
} as const

/** Code of an error. */
export type OAuthErrorCode = keyof typeof oauthErrors

/** An error with a sentence for the developer of the client. */
export type OAuthError = { error: OAuthErrorCode; error_description: string }

/** Builds an error value. */
export function oauthError(error: OAuthErrorCode, error_description: string): OAuthError {
  return { error, error_description }
}
