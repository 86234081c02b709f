/**
 * Tokens of the authorization server (RFC 6749): access tokens, refresh tokens, codes, device codes
 * and the ids of registered clients. All are opaque; the database stores only their keyed hash. If a token is bound to a
 * key (RFC 9449), the hash covers that key, so the token is found only with a proof of it. MCP hands such a
 * token on to an operation in a sealed form of its own.
 */
import { EmbeddedJWK } from 'jose/jwk/embedded'
import { jwtVerify } from 'jose/jwt/verify'
import * as z from 'zod'
import { encodeForUrl } from '../base64.ts'
import { sha256, sha256Hex } from '../digest.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf, derivedToken, isToken, randomToken } from './api-key.ts'

const prefixes = {
  access: 'aoa_at_',
  refresh: 'aoa_rt_',
  code: 'aoa_code_',
  device: 'aoa_dc_',
  client: 'aoa_c_',
} as const

/** Kind of a token or client id. */
export type Kind = keyof typeof prefixes

type Keyed = Pick<World, 'config'>

/** Makes a new random token of this kind. */
export function newToken(world: Pick<World, 'randomBytes'>, kind: Kind): string {
  return randomToken(prefixes[kind], (length) => world.randomBytes(length))
}

/** True if the text has the prefix, form and checksum of a token of this kind. */
export function isTokenOfKind(kind: Kind, text: string): boolean {
  return isToken(prefixes[kind], text)
}

/** Returns the keyed hash that the database stores; `dpopKey` is the thumbprint of the bound key. */
export function digestOfToken(world: Keyed, token: string, dpopKey?: string): Promise<string> {
  const bound = dpopKey === undefined ? token : `${token}.${dpopKey}`
  return credentialOf(bound, required(world.config, 'API_KEY_PEPPER'))
}

/**
 * Returns the refresh token that follows this one. It is derived, not random: a client that lost the answer
 * and asks again gets the same token, and nothing has to be stored for that.
 */
export async function nextRefreshToken(world: Keyed, token: string): Promise<string> {
  const secret = await credentialOf(`next:${token}`, required(world.config, 'API_KEY_PEPPER'))
  return derivedToken(prefixes.refresh, secret)
}

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
const proofSecondsMax = 60
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
    const isTimely = Math.abs(world.now().getTime() / 1000 - iat) <= proofSecondsMax
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

type DelegationWorld = Pick<World, 'config' | 'now'>
/** The call that the header is valid for. */
type DelegatedCall = Pick<Request, 'method' | 'url'>

const delegationSecondsMax = 60
const form = /^([0-9a-f]{64})\.([0-9]{10})\.([0-9a-f]{64})$/

/** Returns the Authorization header of this call for the caller with this credential. */
export async function delegationHeader(
  world: DelegationWorld,
  called: DelegatedCall,
  credential: string,
): Promise<string> {
  const until = Math.floor(world.now().getTime() / 1000) + delegationSecondsMax
  return `Handed ${credential}.${until}.${await sealOf(world, called, credential, until)}`
}

/** Returns the credential in the header; undefined if it is forged, expired or for another call. */
export async function readDelegatedCredential(
  world: DelegationWorld,
  called: DelegatedCall,
  text: string,
): Promise<string | undefined> {
  const [, credential = '', end = '', seal] = form.exec(text) ?? []
  const until = Number(end)
  if (seal === undefined || until * 1000 < world.now().getTime()) return undefined
  const pepper = required(world.config, 'API_KEY_PEPPER')
  // Both are hashed again, so that the time of the comparison does not show how much of a guess is right.
  const [sent, right] = await Promise.all([
    credentialOf(seal, pepper),
    credentialOf(await sealOf(world, called, credential, until), pepper),
  ])
  return sent === right ? credential : undefined
}

function sealOf(
  { config }: DelegationWorld,
  { method, url }: DelegatedCall,
  credential: string,
  until: number,
): Promise<string> {
  // Platforms call a function by its own name, with different paths in front of it.
  const name = new URL(url).pathname.split('/').at(-1)
  const text = `handed ${method} ${name} ${credential} ${until}`
  return credentialOf(text, required(config, 'API_KEY_PEPPER'))
}
