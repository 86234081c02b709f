import { readProof } from '../../shared/auth/dpop.ts'
import { parseJson } from '../../shared/base64.ts'
import { clientOf } from '../../shared/http/caller.ts'
import { laterOf } from '../../shared/http/later.ts'
import { readAtMost } from '../../shared/http/read-at-most.ts'
import { wakeMailer } from '../../shared/mail/wake.ts'
import type { OAuthError } from '../../shared/oauth/answer.ts'
import { wrong } from '../../shared/oauth/answer.ts'
import { issuerOf } from '../../shared/oauth/issuer.ts'
import { registerClient } from '../../shared/oauth/register.ts'
import { revokeToken } from '../../shared/oauth/revoke.ts'
import type { TokenRequest } from '../../shared/oauth/token.ts'
import { giveTokens } from '../../shared/oauth/token.ts'
import { told, toldWrong } from './answers.ts'
import type { Received } from './frame.ts'

const bodyBytesMax = 16 * 1024

async function token(c: Received): Promise<Response> {
  const request = await readRequest(c, '/token')
  if ('error' in request) return toldWrong(c, request)
  const world = c.get('world')
  const tokens = await giveTokens(world, request, () => wakeMailer(world, laterOf(c)))
  return 'error' in tokens ? toldWrong(c, tokens) : told(c, tokens)
}

async function revoke(c: Received): Promise<Response> {
  const request = await readRequest(c, '/revoke')
  if ('error' in request) return toldWrong(c, request)
  const problem = await revokeToken(c.get('world'), request)
  return problem ? toldWrong(c, problem) : told(c, {})
}

async function register(c: Received): Promise<Response> {
  const text = await readBody(c, 'application/json', 'invalid_client_metadata')
  if (typeof text !== 'string') return toldWrong(c, text)
  const world = c.get('world')
  const from = clientOf(world.config, c.req.raw.headers)
  const answer = await registerClient(world, parseJson(text), from)
  return 'error' in answer ? toldWrong(c, answer) : told(c, answer, 201)
}

/** The endpoints by their paths. */
export const endpoints = {
  '/oauth/token': token,
  '/oauth/revoke': revoke,
  '/oauth/register': register,
} as const

/** The form of a request and its proof; the proof is for this address of the issuer. */
async function readRequest(c: Received, path: string): Promise<TokenRequest | OAuthError> {
  const text = await readBody(c, 'application/x-www-form-urlencoded', 'invalid_request')
  if (typeof text !== 'string') return text
  const form = readForm(text)
  if (!(form instanceof Map)) return form
  if (c.req.header('authorization') !== undefined) {
    return wrong('invalid_client', 'Clients have no secret here: send client_id in the form.')
  }
  const sent = c.req.header('dpop')
  if (sent === undefined) return { form }
  const world = c.get('world')
  const addresses = [`${issuerOf(world.config)}${path}`]
  const proof = await readProof(world, sent, { method: 'POST', addresses })
  return proof ? { form, proof } : wrong('invalid_dpop_proof', 'The DPoP proof is not good.')
}

async function readBody(
  c: Received,
  mediaType: string,
  error: OAuthError['error'],
): Promise<string | OAuthError> {
  const sent = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (sent !== mediaType) return wrong(error, `Send the body as ${mediaType}.`)
  const bytes = await readAtMost(c.req.raw.body, bodyBytesMax)
  if (bytes === 'too_long') return wrong(error, 'The body is over 16 KB.')
  if (bytes === 'broken') return wrong(error, 'The body did not come whole.')
  return new TextDecoder().decode(bytes)
}

/**
 * RFC 6749 section 3.2: no parameter is there twice, and an empty one is as one that is not there. None
 * has other characters than printable ASCII (appendix A); the database could not take all of them.
 */
function readForm(text: string): Map<string, string> | OAuthError {
  const fields = [...new URLSearchParams(text)]
  if (new Map(fields).size !== fields.length) {
    return wrong('invalid_request', 'A parameter is there more than once.')
  }
  if (!fields.every(([, value]) => /^[\x20-\x7e]*$/.test(value))) {
    return wrong('invalid_request', 'A parameter has characters other than printable ASCII.')
  }
  return new Map(fields.filter(([, value]) => value !== ''))
}
