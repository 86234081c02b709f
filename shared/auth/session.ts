/**
 * The token of a browser's session: a JWT (RFC 7519) signed with Ed25519 that names a session row. It
 * says when the row may have ended and nothing of what it allows: the database decides at each call.
 */

import { createLocalJWKSet } from 'jose/jwks/local'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { importJWK } from 'jose/key/import'
import * as z from 'zod'
import { required } from '../env.ts'
import type { World } from '../world.ts'

const algorithm = 'EdDSA'
const privateKey = z.looseObject({ kid: z.string(), kty: z.string() })
const publicKeys = z.object({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) })
const claims = z.object({ sub: z.uuid(), sid: z.string().min(43).max(64), iat: z.number() })

/** Makes the token of a session that ends, unless it is used, at `expiresAt`. */
export async function openSessionToken(
  world: World,
  { sid, account, expiresAt }: { sid: string; account: string; expiresAt: Date },
): Promise<string> {
  const key = privateKey.parse(JSON.parse(required(world.config, 'SESSION_PRIVATE_KEY')))
  const { WEB_URL } = world.config
  return new SignJWT({ sid })
    .setProtectedHeader({ alg: algorithm, kid: key.kid, typ: 'JWT' })
    .setIssuer(WEB_URL)
    .setAudience(WEB_URL)
    .setSubject(account)
    .setIssuedAt(world.now())
    .setExpirationTime(expiresAt)
    .sign(await importJWK(key, algorithm))
}

/** The session of a token that is ours and not over, else undefined. */
export async function readSessionToken(
  world: World,
  token: string,
): Promise<{ sid: string; account: string; issuedAt: Date } | undefined> {
  const { WEB_URL } = world.config
  const keys = publicKeys.parse(JSON.parse(required(world.config, 'SESSION_PUBLIC_KEYS')))
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms: [algorithm],
      issuer: WEB_URL,
      audience: WEB_URL,
      currentDate: world.now(),
      requiredClaims: ['exp'],
    })
    const { sid, sub, iat } = claims.parse(payload)
    return { sid, account: sub, issuedAt: new Date(iat * 1000) }
  } catch {
    return undefined
  }
}
