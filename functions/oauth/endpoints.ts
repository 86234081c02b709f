import { readProof } from '../../shared/auth/access-token.ts'
import { parseJson } from '../../shared/base64.ts'
import { clientOf } from '../../shared/http/caller.ts'
import { readAtMost } from '../../shared/http/input.ts'
import { waitUntilOf } from '../../shared/http/later.ts'
import { wakeMailer } from '../../shared/mail/outbox.ts'
import { type OAuthError, oauthError } from '../../shared/oauth/answer.ts'
import { beginDevice } from '../../shared/oauth/device.ts'
import { issuerOf } from '../../shared/oauth/issuer.ts'
import { registerClient } from '../../shared/oauth/register.ts'
import { issueTokens, revokeToken, type TokenRequest } from '../../shared/oauth/token.ts'
import { answerJson, answerOAuthError } from './answers.ts'
import type { OAuthContext } from './frame.ts'

const bodyBytesMax = 16 * 1024

async function token(c: OAuthContext): Promise<Response> {
  const request = await readRequest(c, '/token')
  if ('error' in request) return answerOAuthError(c, request)
  const world = c.get('world')
  const tokens = await issueTokens(world, request, () => wakeMailer(world, waitUntilOf(c)))
  return 'error' in tokens ? answerOAuthError(c, tokens) : answerJson(c, tokens)
}

async function revoke(c: OAuthContext): Promise<Response> {
  const request = await readRequest(c, '/revoke')
  if ('error' in request) return answerOAuthError(c, request)
  const problem = await revokeToken(c.get('world'), request)
  return problem ? answerOAuthError(c, problem) : answerJson(c, {})
}

async function answerRegistration(c: OAuthContext): Promise<Response> {
  const text = await readBody(c, 'application/json', 'invalid_client_metadata')
  if (typeof text !== 'string') return answerOAuthError(c, text)
  const world = c.get('world')
  const from = clientOf(world.config, c.req.raw.headers)
  const answer = await registerClient(world, parseJson(text), from)
  return 'error' in answer ? answerOAuthError(c, answer) : answerJson(c, answer, 201)
}

async function device(c: OAuthContext): Promise<Response> {
  const request = await readRequest(c, '/device')
  if ('error' in request) return answerOAuthError(c, request)
  const world = c.get('world')
  const client = clientOf(world.config, c.req.raw.headers)
  const userAgent = c.req.header('user-agent') ?? ''
  const begun = await beginDevice(world, request.form, { client, userAgent })
  return 'error' in begun ? answerOAuthError(c, begun) : answerJson(c, begun)
}

/** Endpoints by their paths. */
export const endpoints = {
  '/oauth/token': token,
  '/oauth/revoke': revoke,
  '/oauth/device': device,
  '/oauth/register': answerRegistration,
} as const

/** Reads the form of a request and its DPoP proof, which must name this endpoint of the issuer. */
async function readRequest(c: OAuthContext, path: string): Promise<TokenRequest | OAuthError> {
  const text = await readBody(c, 'application/x-www-form-urlencoded', 'invalid_request')
  if (typeof text !== 'string') return text
  const form = readForm(text)
  if (!(form instanceof Map)) return form
  if (c.req.header('authorization') !== undefined) {
    return oauthError('invalid_client', 'Clients have no secret here: send client_id in the form.')
  }
  const sent = c.req.header('dpop')
  if (sent === undefined) return { form }
  const world = c.get('world')
  const addresses = [`${issuerOf(world.config)}${path}`]
  const proof = await readProof(world, sent, { method: 'POST', addresses })
  return proof ? { form, proof } : oauthError('invalid_dpop_proof', 'The DPoP proof is not good.')
}

async function readBody(
  c: OAuthContext,
  mediaType: string,
  error: OAuthError['error'],
): Promise<string | OAuthError> {
  const sent = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (sent !== mediaType) return oauthError(error, `Send the body as ${mediaType}.`)
  const bytes = await readAtMost(c.req.raw.body, bodyBytesMax)
  if (bytes === 'too_long') return oauthError(error, 'The body is over 16 KB.')
  if (bytes === 'broken') return oauthError(error, 'The body did not come whole.')
  return new TextDecoder().decode(bytes)
}

/**
 * Reads a form. Refuses a parameter that occurs twice and drops empty ones (RFC 6749 section 3.2). Refuses
 * characters other than printable ASCII (appendix A), some of which the database could not store.
 */
function readForm(text: string): Map<string, string> | OAuthError {
  const fields = [...new URLSearchParams(text)]
  if (new Map(fields).size !== fields.length) {
    return oauthError('invalid_request', 'A parameter is there more than once.')
  }
  if (!fields.every(([, value]) => /^[\x20-\x7e]*$/.test(value))) {
    return oauthError('invalid_request', 'A parameter has characters other than printable ASCII.')
  }
  return new Map(fields.filter(([, value]) => value !== ''))
}
