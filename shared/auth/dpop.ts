/**
 * Proofs of possession (RFC 9449): a JWT that the holder of a token signs for each request with its own
 * key. A proof is valid for one method, one address and 60 seconds. Single use is checked by the database.
 * The service asks for no nonce.
 */
import { EmbeddedJWK } from 'jose/jwk/embedded'
import { jwtVerify } from 'jose/jwt/verify'
import * as z from 'zod'
import { encodeForUrl } from '../base64.ts'
import { sha256, sha256Hex } from '../digest.ts'
import type { World } from '../world.ts'

/** Signature algorithms that a proof may have. */
export const proofAlgorithms = ['ES256', 'EdDSA', 'Ed25519']

/** A verified proof: its key and its identity. */
export type Proof = {
  /** Thumbprint of the key (RFC 7638), base64url. */
  key: string
  /** SHA-256 over the thumbprint and the proof's `jti`: identifies the proof. */
  digest: string
}

/** The request that a proof must be for. */
export type ProvenRequest = {
  method: string
  /** Addresses of the requested endpoint, without a query; the proof must name one of them. */
  addresses: readonly string[]
  /** The access token sent with the proof, if any. */
  accessToken?: string
}

type PublicKey = { kty?: string; crv?: string; x?: string; y?: string }

const proofLengthMax = 4096
const secondsMax = 60
const claims = z.object({
  jti: z.string().min(1).max(256),
  htm: z.string(),
  htu: z.url().max(2048),
  iat: z.number(),
  ath: z.string().optional(),
})

/** Verifies a proof; returns undefined if it is not valid for this request (RFC 9449 section 4.3). */
export async function readProof(
  world: Pick<World, 'now'>,
  proof: string,
  { method, addresses, accessToken }: ProvenRequest,
): Promise<Proof | undefined> {
  if (proof.length > proofLengthMax) return undefined
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: proofAlgorithms,
      currentDate: world.now(),
    })
    const { jti, htm, htu, iat, ath } = claims.parse(payload)
    const isTimely = Math.abs(world.now().getTime() / 1000 - iat) <= secondsMax
    const isHere = htm === method && addresses.includes(bare(htu))
    const isOfToken = accessToken === undefined || ath === (await hashOf(accessToken))
    if (!isTimely || !isHere || !isOfToken || !protectedHeader.jwk) return undefined
    const key = await thumbprintOf(protectedHeader.jwk)
    return { key, digest: await sha256Hex(`${key}.${jti}`) }
  } catch {
    // The whole proof is untrusted input: jose and zod throw if it is malformed.
    return undefined
  }
}

/** Removes query and fragment, which do not count (RFC 9449 section 4.3, point 9). */
function bare(address: string): string {
  const url = new URL(address)
  url.search = ''
  url.hash = ''
  return url.href
}

/** Computes the thumbprint of RFC 7638 section 3.2 for the two key types that the algorithms have. */
function thumbprintOf({ kty = '', crv = '', x = '', y = '' }: PublicKey): Promise<string> {
  return hashOf(JSON.stringify(kty === 'EC' ? { crv, kty, x, y } : { crv, kty, x }))
}

async function hashOf(text: string): Promise<string> {
  return encodeForUrl(await sha256(new TextEncoder().encode(text)))
}
