/**
 * Session tokens: a JWT (RFC 7519), signed with EdDSA, that carries the id of a browser session. It proves
 * only that this service issued it. Whether the session is still open is known to the database, by the
 * keyed hash of the id. Keys rotate by kid: the signing key is one of the published keys.
 */
import { createLocalJWKSet } from 'jose/jwks/local'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { importJWK } from 'jose/key/import'
import * as z from 'zod'
import { encodeForUrl, parseJson } from '../base64.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'

/** The content of a session token. */
export type SessionToken = { sid: string; account: string; issuedAt: Date }

/** Name of the algorithm in the header of a token. */
export const algorithm = 'EdDSA'
const privateKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string().min(1),
  x: z.string(),
  d: z.string(),
})
const publicKey = privateKey.omit({ d: true })
const claims = z.object({ sub: z.uuid(), sid: z.string().regex(/^[\w-]{43}$/), iat: z.int() })

/** Makes a session id: 256 random bits, base64url. */
export function newSessionId(world: World): string {
  return encodeForUrl(world.randomBytes(32))
}

/** Signs the token of a session, valid until `expiresAt`. */
export async function openSessionToken(
  world: World,
  session: { sid: string; account: string; expiresAt: Date },
): Promise<string> {
  const { kid, key } = await signingKeyOf(required(world.config, 'SESSION_PRIVATE_KEY'))
  return new SignJWT({ sid: session.sid })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid })
    .setIssuer(world.config.WEB_URL)
    .setAudience(world.config.BASE_URL)
    .setSubject(session.account)
    .setIssuedAt(world.now())
    .setExpirationTime(session.expiresAt)
    .sign(key)
}

/** Returns the content of a token; undefined if this service did not sign it or it has expired. */
export async function readSessionToken(
  world: World,
  token: string,
): Promise<SessionToken | undefined> {
  const keys = verifyingKeysOf(world.config.SESSION_PUBLIC_KEYS)
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

/** Returns the public keys of session tokens, for anyone who wants to check one. */
export function publishedKeys(world: World) {
  return keySet.parse(parseJson(world.config.SESSION_PUBLIC_KEYS))
}

// The schema drops unknown fields, so a private key part in the setting is never published.
const keySet = z.object({ keys: z.array(publicKey) })
type Keys = ReturnType<typeof createLocalJWKSet>
/** Key sets by text: an isolate has one, and importing its keys costs more than verifying. */
const imported = new Map<string, Keys>()

/** Returns the key of a setting that signs, with its id. */
export async function signingKeyOf(text: string) {
  const jwk = privateKey.parse(parseJson(text))
  return { kid: jwk.kid, key: await importJWK(jwk, algorithm) }
}

/** Returns the keys of a setting that verify. */
export function verifyingKeysOf(text: string): Keys {
  const known = imported.get(text)
  if (known) return known
  const keys = createLocalJWKSet(keySet.parse(parseJson(text)))
  imported.set(text, keys)
  return keys
}
