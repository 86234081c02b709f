/**
 * Takes calls of functions on another platform and passes them on. Whoever holds the signing key can call what
 * `offered` lists, as a binding would; nobody else learns anything. Each token is good for one call: with a request
 * that somebody has copied, nothing is done or told again.
 */
import { jwtVerify } from 'jose/jwt/verify'
import * as z from 'zod'
import { algorithm, verifyingKeysOf } from '../auth/session.ts'
import { sha256Hex } from '../digest.ts'
import { readAtMost } from '../http/input.ts'
import type { World } from '../world.ts'
import { bodyClaim, bodyHash, callSchema, callsAddress, offered, tokenType } from './calls.ts'
import { decodeValue, encodeValue } from './codec.ts'

/** Seconds that a token is accepted for, and that two clocks may differ by: an age of 30 seconds at most. */
const ageSecondsMax = 25
const clockSeconds = 5
/** Maximum bytes of a call. A request to an operation has 128 KiB, which JSON may double by its escapes. */
const bodyBytesMax = 512 * 1024

/** Answers 401 with nothing in it to whatever is not a signed call of an offered method. */
export async function takeCall(world: World, request: Request): Promise<Response> {
  try {
    const call = await verifiedCall(world, request)
    if (!call) return new Response(null, { status: 401 })
    return new Response(encodeValue(await carryOut(call)), {
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    })
  } catch (error) {
    // The database is down or a function is not bound: nothing was passed on.
    world.log({ operation: 'remote_calls', log: String(error) })
    return new Response(null, { status: 503 })
  }
}

type Method = (...args: unknown[]) => Promise<unknown>
type Call = { port: object; method: Method; args: readonly unknown[] }

async function carryOut({ port, method, args }: Call): Promise<object> {
  try {
    // A method of another worker has no `apply` of its own: that would be called there.
    return { value: await Reflect.apply(method, port, args) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns the call if it is whole, signed, new and offered. */
async function verifiedCall(world: World, request: Request): Promise<Call | undefined> {
  const claims = await verifyToken(world, request.headers.get('authorization') ?? '')
  // A body without a token is not even read.
  if (!claims || request.method !== 'POST') return undefined
  const body = await readAtMost(request.body, bodyBytesMax)
  if (typeof body === 'string' || (await bodyHash(body)) !== claims[bodyClaim]) return undefined
  const call = callIn(world, new TextDecoder().decode(body))
  return call && (await isFirst(world, claims.jti)) ? call : undefined
}

const claimsSchema = z.object({ jti: z.uuid(), [bodyClaim]: z.string().length(43) })

async function verifyToken(world: World, authorization: string) {
  const [, token] = /^Bearer ([\w.-]{1,1024})$/.exec(authorization) ?? []
  if (token === undefined) return undefined
  try {
    const keys = verifyingKeysOf(world.config.REMOTE_CALLS_PUBLIC_KEYS)
    const { payload } = await jwtVerify(token, keys, {
      algorithms: [algorithm],
      typ: tokenType,
      audience: callsAddress(world.config),
      maxTokenAge: ageSecondsMax,
      clockTolerance: clockSeconds,
      currentDate: world.now(),
    })
    return claimsSchema.parse(payload)
  } catch {
    return undefined
  }
}

const methodSchema = z.custom<Method>((value) => typeof value === 'function')

function callIn(world: World, text: string): Call | undefined {
  const { data: asked } = callSchema.safeParse(valueIn(text))
  if (!asked) return undefined
  const names: readonly string[] = offered[asked.to]
  if (!names.includes(asked.method)) return undefined
  const port = { CUSTODY: world.custody, MAILER: world.mailer, VAULT: world.vault }[asked.to]
  if (!port) throw new Error(`${asked.to} is not bound`)
  const method = methodSchema.parse(Reflect.get(port, asked.method))
  return { port, method, args: asked.args }
}

function valueIn(text: string): unknown {
  try {
    return decodeValue(text)
  } catch {
    return undefined
  }
}

/** Returns true for the first call with this id. */
async function isFirst({ db }: World, id: string): Promise<boolean> {
  const call_digest = await sha256Hex(`remote call ${id}`)
  return (await db.call('spend_remote_call', { call_digest })) === true
}
