/**
 * Proofs of possession (RFC 9449): a JWT that the holder of a token signs for each request with its own
 * key. It is good for one request, at one address, within a minute; that it is used once only the
 * database can tell. No nonce is asked for.
 */
import { EmbeddedJWK } from 'jose/jwk/embedded'
import { jwtVerify } from 'jose/jwt/verify'
import * as z from 'zod'
import { encodeForUrl } from '../base64.ts'
import { sha256, sha256Hex } from '../digest.ts'
import type { World } from '../world.ts'

/** Signature algorithms that a proof may have. */
export const proofAlgorithms = ['ES256', 'EdDSA', 'Ed25519']

/** Who proves, and which proof it is. */
export type Proof = {
  /** Thumbprint of the key (RFC 7638), base64url. */
  key: string
  /** Names the proof among all of this key. */
  digest: string
}

/** What a proof has to be for. */
export type Proven = {
  method: string
  /** Each of which is an address of what is asked for, without a query. */
  addresses: readonly string[]
  /** The token that is sent beside it, where one is. */
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

/** Reads a proof; undefined when it proves nothing (RFC 9449 section 4.3). */
export async function readProof(
  world: Pick<World, 'now'>,
  proof: string,
  { method, addresses, accessToken }: Proven,
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
    // Everything in a proof is what a stranger wrote: jose and zod throw for what is not one.
    return undefined
  }
}

/** Query and fragment do not count (RFC 9449 section 4.3, point 9). */
function bare(address: string): string {
  const url = new URL(address)
  url.search = ''
  url.hash = ''
  return url.href
}

/** RFC 7638 section 3.2, for the two kinds of keys that the algorithms have. */
function thumbprintOf({ kty = '', crv = '', x = '', y = '' }: PublicKey): Promise<string> {
  return hashOf(JSON.stringify(kty === 'EC' ? { crv, kty, x, y } : { crv, kty, x }))
}

async function hashOf(text: string): Promise<string> {
  return encodeForUrl(await sha256(new TextEncoder().encode(text)))
}
