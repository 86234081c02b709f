/**
 * What the endpoints of the authorization server answer: errors of RFC 6749 section 5.2 (and of the
 * RFCs that add to them) as values. An error never tells which part of a secret was wrong.
 */

/** Errors and the status that each is answered with. */
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
} as const

/** One of them. */
export type OAuthErrorCode = keyof typeof oauthErrors

/** An error with a sentence for the developer of the client. */
export type OAuthError = { error: OAuthErrorCode; error_description: string }

/** An error as a value. */
export function wrong(error: OAuthErrorCode, error_description: string): OAuthError {
  return { error, error_description }
}
