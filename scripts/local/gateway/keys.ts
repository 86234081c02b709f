/**
 * Identifies the caller of a request as the front of a hosted project and PostgREST do. The front
 * requires an `apikey` of the project, and a minted token is not one (Supabase's guide "JWT signing
 * keys"). PostgREST verifies the bearer token (ES256, `kid`, `exp`, `nbf`) and takes the role from it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose'
import * as z from 'zod'
import type { Catalog } from '../../../shared/db/direct/catalog.ts'
import type { SqlFunction } from '../../../shared/db/direct/plan.ts'
import { type Refusal, refusal } from './errors.ts'

/** The keys by which a project knows its callers. */
export type ProjectKeys = {
  /** Value of the `apikey` header -> role of a request without a token. */
  apiKeys: Readonly<Record<string, 'anon' | 'service_role'>>
  /** JWKS (RFC 7517) of the keys that sign tokens. */
  jwks: JSONWebKeySet
}

/** The database role of a request. */
export type Identity = { role: string }

const claimsSchema = z.looseObject({ role: z.string().optional(), exp: z.number() })
type Verified = Identity & { expiresAtSeconds: number }
/** Maximum number of remembered tokens. Tokens are few: one for each function that holds one. */
const verifiedMax = 100

/** Returns a function that finds the role of a request, or the refusal of the front or of PostgREST. */
export function createGuard({ apiKeys, jwks }: ProjectKeys) {
  const keys = new Map(Object.entries(apiKeys))
  const keySet = createLocalJWKSet(jwks)
  const verified = new Map<string, Verified>()

  const verify = async (token: string): Promise<Identity | Refusal> => {
    if (token === '') return tokenRefusal('Empty JWT is sent in Authorization header')
    const parts = token.split('.').length
    if (parts !== 3) return tokenRefusal(`Expected 3 parts in JWT; got ${parts}`)
    const known = verified.get(token)
    if (known && known.expiresAtSeconds > Date.now() / 1000) return known
    try {
      const { payload } = await jwtVerify(token, keySet, {
        algorithms: ['ES256'],
        clockTolerance: 30,
        requiredClaims: ['exp'],
      })
      const { role = 'anon', exp } = claimsSchema.parse(payload)
      const one = { role, expiresAtSeconds: exp }
      if (verified.size >= verifiedMax) verified.clear()
      verified.set(token, one)
      return one
    } catch (error) {
      return tokenRefusal(messageOf(error), isOfClaims(error) ? 'PGRST303' : 'PGRST301')
    }
  }

  return async ({ apikey, authorization }: IncomingHttpHeaders): Promise<Identity | Refusal> => {
    if (apikey === undefined) return frontRefusal('No API key found in request')
    const own = keys.get(String(apikey))
    if (own === undefined) return frontRefusal('Invalid API key')
    const bearer = /^Bearer(?: +(.*))?$/i.exec(authorization ?? '')
    // If the bearer token is the API key itself, the front replaces it by a token of its own.
    const [, token = ''] = bearer ?? []
    return !bearer || token === apikey ? { role: own } : verify(token)
  }
}

/** Returns an answer of the front, which has no code because it is not the database's. */
function frontRefusal(message: string): Refusal {
  const hint = 'Double check the API key of the project.'
  const headers = { 'content-type': 'application/json' }
  return { refused: true, status: 401, headers, body: JSON.stringify({ message, hint }) }
}

function tokenRefusal(message: string, code = 'PGRST301'): Refusal {
  const challenge = `Bearer error="invalid_token", error_description=${JSON.stringify(message)}`
  return refusal(401, code, message, null, null, { 'www-authenticate': challenge })
}

function isOfClaims(error: unknown): boolean {
  return error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed
}

function messageOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'JWT expired'
  if (error instanceof errors.JWTClaimValidationFailed) return `JWT claim ${error.claim} is wrong`
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'No suitable key was found to decode the JWT'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'JWSInvalidSignature'
  return 'The JWT cannot be decoded'
}

/** Returns the one function that takes these arguments, or PostgREST's refusal. */
export function findFunction(
  catalog: Catalog,
  schema: string,
  name: string,
  given: readonly string[],
): SqlFunction | Refusal {
  const matching = (catalog.get(name) ?? []).filter((candidate) => accepts(candidate, given))
  const [only, ...others] = matching
  if (!only) return notFound(`${schema}.${name}`, given)
  return others.length === 0 ? only : ambiguous(matching)
}

function accepts({ args }: SqlFunction, given: readonly string[]): boolean {
  return (
    given.every((name) => args.some((arg) => arg.name === name)) &&
    args.every((arg) => !arg.required || given.includes(arg.name))
  )
}

function notFound(name: string, given: readonly string[]): Refusal {
  const list = given.toSorted().join(', ')
  const [sought, searched] = given.length
    ? [`(${list})`, `with parameter${given.length > 1 ? 's' : ''} ${list}`]
    : [' without parameters', 'without parameters']
  return refusal(
    404,
    'PGRST202',
    `Could not find the function ${name}${sought} in the schema cache`,
    `Searched for the function ${name} ${searched}, but no matches were found in the schema cache.`,
  )
}

function ambiguous(matching: readonly SqlFunction[]): Refusal {
  const signatures = matching.map(({ schema, name, args }) => {
    return `${schema}.${name}(${args.map((arg) => `${arg.name} => ${arg.type}`).join(', ')})`
  })
  return refusal(
    300,
    'PGRST203',
    `Could not choose the best candidate function between: ${signatures.join(', ')}`,
    null,
    'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
  )
}
