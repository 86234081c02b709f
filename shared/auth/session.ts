/**
 * Session tokens: a JWT (RFC 7519) signed with EdDSA that carries the id of a browser session. It
 * proves only that this service gave it out; whether the session still stands, the database knows
 * by the keyed hash of the id. Keys rotate by kid: the signing key is one of the published.
 */

import { createLocalJWKSet } from 'jose/jwks/local'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { importJWK } from 'jose/key/import'
import * as z from 'zod'
import { encodeForUrl, parseJson } from '../base64.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'

/** A session as its token tells it. */
export type SessionToken = { sid: string; account: string; issuedAt: Date }

const algorithm = 'EdDSA'
const privateKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string().min(1),
  x: z.string(),
  d: z.string(),
})
const publicKey = privateKey.omit({ d: true })
const claims = z.object({ sub: z.uuid(), sid: z.string().regex(/^[\w-]{43}$/), iat: z.int() })

/** A new session id: 256 random bits, base64url. */
export function newSessionId(world: World): string {
  return encodeForUrl(world.randomBytes(32))
}

/** The token of a session, good until `expiresAt`. */
export async function openSessionToken(
  world: World,
  session: { sid: string; account: string; expiresAt: Date },
): Promise<string> {
  const jwk = privateKey.parse(parseJson(required(world.config, 'SESSION_PRIVATE_KEY')))
  return new SignJWT({ sid: session.sid })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: jwk.kid })
    .setIssuer(world.config.WEB_URL)
    .setAudience(world.config.BASE_URL)
    .setSubject(session.account)
    .setIssuedAt(world.now())
    .setExpirationTime(session.expiresAt)
    .sign(await importJWK(jwk, algorithm))
}

/** What a token tells; undefined for one that this service did not sign or that is over. */
export async function readSessionToken(
  world: World,
  token: string,
): Promise<SessionToken | undefined> {
  const keys = keysOf(world.config.SESSION_PUBLIC_KEYS)
  try {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: [algorithm],
      typ: 'JWT',
      issuer: world.config.WEB_URL,
      audience: world.config.BASE_URL,
      requiredClaims: ['exp'],
      currentDate: world.now(),
    })
    const { sub, sid, iat } = claims.parse(payload)
    return { sid, account: sub, issuedAt: new Date(iat * 1000) }
  } catch {
    return undefined
  }
}

/** The keys that session tokens are signed with, for whoever wants to check one. */
export function publishedKeys(world: World) {
  return keySet.parse(parseJson(world.config.SESSION_PUBLIC_KEYS))
}

// What is not named is dropped: a private part that slipped in is never published.
const keySet = z.object({ keys: z.array(publicKey) })
type Keys = ReturnType<typeof createLocalJWKSet>
/** An isolate has one set; it keeps the imported keys, and importing costs more than verifying. */
const imported = new Map<string, Keys>()

function keysOf(text: string): Keys {
  const known = imported.get(text)
  if (known) return known
  const keys = createLocalJWKSet(keySet.parse(parseJson(text)))
  imported.set(text, keys)
  return keys
}
