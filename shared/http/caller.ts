/**
 * Who asks, as far as a request tells it: token, client fingerprint, network address. Whether the
 * token is good is decided in the database, in the transaction of the operation itself.
 */
import { credentialOf, isApiKey } from '../auth/api-key.ts'
import { readSessionToken } from '../auth/session.ts'
import { fail, Rejection } from '../contract/errors.ts'
import type { Operation } from '../contract/operation.ts'
import type { CallerDatabase, Database } from '../db/database.ts'
import { bindCredential, unbound } from '../db/database.ts'
import { sha256Hex } from '../digest.ts'
import { required } from '../env.ts'
import type { Later } from '../mail/wake.ts'
import { wakeMailer } from '../mail/wake.ts'
import type { World } from '../world.ts'
import type { Context } from './handler.ts'

/**
 * What stands in the database for the bearer token of a request (RFC 6750 section 2.1): an API key,
 * or the token of a browser session. Undefined where it can be neither; no database is asked.
 */
export async function credentialFrom(world: World, headers: Headers): Promise<string | undefined> {
  const [, token] = /^Bearer ([\w.-]{1,1024})$/i.exec(headers.get('authorization') ?? '') ?? []
  if (token === undefined) return undefined
  const pepper = required(world.config, 'API_KEY_PEPPER')
  if (isApiKey(token)) return credentialOf(token, pepper)
  const session = await readSessionToken(world, token)
  return session && credentialOf(session.sid, pepper)
}

/** Everything that a handler is given. */
export function contextOf(
  contract: Operation,
  world: World,
  request: Request,
  known: { credential: string; requestId: string; later: Later },
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
    client: clientOf(request.headers),
    claim: null,
    mailSoon: () => wakeMailer(world, known.later),
  }
}

function fingerprint(headers: Headers): Promise<string> {
  const deviceId = headers.get('x-device-id')
  const text = deviceId ? `id:${deviceId}` : `agent:${headers.get('user-agent') ?? ''}`
  return sha256Hex(text.slice(0, 512))
}

/** The edge platform sets this header itself, so a client cannot choose its own address. */
export function clientOf(headers: Headers): string {
  return (headers.get('cf-connecting-ip') ?? 'direct').slice(0, 64)
}

/** The Idempotency-Key of a request, or null. */
export function idempotencyKey(headers: Headers): string | null {
  const key = headers.get('idempotency-key')
  if (key === null) return null
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new Rejection(
    fail('invalid_request', { message: 'Idempotency-Key is 1 to 255 printable characters.' }),
  )
}
