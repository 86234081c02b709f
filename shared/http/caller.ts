/**
 * The caller of a request as the request states it: token, client fingerprint, network address. The
 * database decides whether the token is valid, in the transaction of the operation itself.
 */
import {
  digestOfToken,
  isTokenOfKind,
  readDelegatedCredential,
  readProof,
} from '../auth/access-token.ts'
import { credentialOf, isApiKey } from '../auth/api-key.ts'
import { fail, Rejection } from '../contract/errors.ts'
import { isIdempotencyKey } from '../contract/keepable.ts'
import type { Operation } from '../contract/operation.ts'
import { bindCredential, type CallerDatabase, type Database, unbound } from '../db/database.ts'
import { sha256Hex } from '../digest.ts'
import { required } from '../env.ts'
import { type WaitUntil, wakeMailer } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import type { Context } from './handler.ts'

/**
 * Returns the database's credential for the token of a request: an API key or an access token (RFC 6750
 * section 2.1, RFC 9449 section 7), or a credential that another of our functions has handed on. Returns
 * undefined, without asking the database, if the token has another form, such as a browser session.
 */
export async function credentialFrom(world: World, request: Request): Promise<string | undefined> {
  const [, scheme = '', token = ''] =
    /^(Bearer|DPoP|Handed) ([\w.-]{1,1024})$/i.exec(request.headers.get('authorization') ?? '') ??
    []
  if (scheme.toLowerCase() === 'handed') return readDelegatedCredential(world, request, token)
  if (scheme.toLowerCase() === 'dpop') return provenCredential(world, request, token)
  if (isApiKey(token)) return credentialOf(token, required(world.config, 'API_KEY_PEPPER'))
  return isTokenOfKind('access', token) ? digestOfToken(world, token) : undefined
}

/**
 * Does the same for an access token that is bound to a key. This uses up the proof, whatever the outcome of
 * the request.
 */
async function provenCredential(world: World, request: Request, token: string) {
  const sent = request.headers.get('dpop')
  if (sent === null || !isTokenOfKind('access', token)) return undefined
  const addresses = [`${world.config.BASE_URL}${new URL(request.url).pathname}`]
  const proven = { method: request.method, addresses, accessToken: token }
  const proof = await readProof(world, sent, proven)
  if (!proof) return undefined
  const credential = await digestOfToken(world, token, proof.key)
  const isFresh = await world.db.call('spend_proof', { credential, proof_digest: proof.digest })
  return isFresh === true ? credential : undefined
}

/** Builds everything that a handler receives. */
export function contextOf(
  contract: Operation,
  world: World,
  request: Request,
  known: { credential: string; requestId: string; later: WaitUntil },
): Context {
  const isPublic = contract.access === 'public'
  const { credential } = known
  let isAsked = false
  const database: Database = {
    call(name, args) {
      isAsked = true
      return world.db.call(name, args)
    },
  }
  const db: CallerDatabase = isPublic ? unbound(database) : bindCredential(database, credential)
  return {
    world,
    db,
    isAdmitted: () => isAsked,
    credential,
    now: () => world.now(),
    requestId: known.requestId,
    device: () => fingerprint(request.headers),
    headers: request.headers,
    client: clientOf(world.config, request.headers),
    claim: null,
    later: known.later,
    mailSoon: () => wakeMailer(world, known.later),
  }
}

function fingerprint(headers: Headers): Promise<string> {
  const deviceId = headers.get('x-device-id')
  const text = deviceId ? `id:${deviceId}` : `agent:${headers.get('user-agent') ?? ''}`
  return sha256Hex(text.slice(0, 512))
}

/**
 * Returns the network address of a client. Without a configured proxy a header would be the client's own
 * claim, so all clients count as one.
 */
export function clientOf({ CLIENT_ADDRESS_HEADER: name }: Named, headers: Headers): string {
  return ((name && headers.get(name)) || 'direct').slice(0, 64)
}
type Named = Pick<World['config'], 'CLIENT_ADDRESS_HEADER'>

/** Returns the Idempotency-Key of a request or null; throws a Rejection if it has another form. */
export function idempotencyKey(headers: Headers): string | null {
  const key = headers.get('idempotency-key')
  if (key === null || isIdempotencyKey(key)) return key
  throw new Rejection(
    fail('invalid_request', { message: 'Idempotency-Key is 1 to 255 printable characters.' }),
  )
}
