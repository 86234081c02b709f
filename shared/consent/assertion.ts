/**
 * The second verifier of an owner's WebAuthn assertion (level 3, section 7.2), independent of the library
 * that the pages use. Code that relies on consent runs it over the stored assertion. It uses no clock,
 * network or database; the ledger checks the counter and single use. Where the two verifiers disagree, this
 * one is stricter: binary values have one encoding, keys and authenticator data hold nothing but what they
 * must, and framed pages are refused.
 */
import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import { decodeBytes, encodeForUrl, parseJson } from '../base64.ts'
import { fromHex, sha256, toHex } from '../digest.ts'

/** A signature of an authenticator and the public key of its passkey; all in base64url without padding. */
export type StoredAssertion = {
  /** COSE_Key (RFC 9052 section 7) as stored when the passkey was made. */
  public_key: string
  client_data: string
  authenticator_data: string
  /** Signature in the encoding of WebAuthn section 6.5.5. */
  signature: string
}

/** Digest and place that the assertion must be for. */
export type Expected = RelyingParty & {
  /** Digest of the terms in lower-case hex; its 32 bytes are the challenge. */
  digest: string
}

/** The check that failed. */
export type AssertionFault =
  | 'encoding'
  | 'client_data'
  | 'type'
  | 'challenge'
  | 'origin'
  | 'cross_origin'
  | 'authenticator_data'
  | 'rp_id'
  | 'user_presence'
  | 'user_verification'
  | 'signature'

/** Returns the first check that fails; undefined if the assertion is valid for exactly this digest. */
export async function faultOfAssertion(
  assertion: StoredAssertion,
  expected: Expected,
): Promise<AssertionFault | undefined> {
  const publicKey = onlyBytes(assertion.public_key)
  const clientData = onlyBytes(assertion.client_data)
  const authenticatorData = onlyBytes(assertion.authenticator_data)
  const signature = onlyBytes(assertion.signature)
  if (!publicKey || !clientData || !authenticatorData || !signature) return 'encoding'
  const fault =
    faultOfClientData(clientData, expected) ??
    (await faultOfAuthenticatorData(authenticatorData, expected.rpId))
  if (fault) return fault
  const signed = new Uint8Array([...authenticatorData, ...(await sha256(clientData))])
  return (await isSignedBy(publicKey, signature, signed)) ? undefined : 'signature'
}

/** Decodes base64url only from its one encoding, so that two texts never stand for the same assertion. */
function onlyBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBytes(text)
  return bytes && encodeForUrl(bytes) === text ? bytes : undefined
}

function faultOfClientData(bytes: Uint8Array, expected: Expected): AssertionFault | undefined {
  const data = readClientData(bytes)
  if (!data) return 'client_data'
  if (data['type'] !== 'webauthn.get') return 'type'
  if (data['challenge'] !== encodeForUrl(fromHex(expected.digest))) return 'challenge'
  if (data['origin'] !== expected.origin) return 'origin'
  const isFramed = data['crossOrigin'] !== undefined && data['crossOrigin'] !== false
  if (isFramed || data['topOrigin'] !== undefined) return 'cross_origin'
  // Level 3 has no token binding, and no browser sends it.
  return data['tokenBinding'] === undefined ? undefined : 'client_data'
}

function readClientData(bytes: Uint8Array): Record<string, unknown> | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
  const data = parseJson(text)
  return typeof data === 'object' && data !== null ? { ...data } : undefined
}

const rpIdHashBytes = 32
const headBytes = 37
// Flags of WebAuthn section 6.1.
const flag = {
  userPresent: 0x01,
  userVerified: 0x04,
  backupEligible: 0x08,
  backedUp: 0x10,
  attestedData: 0x40,
  extensions: 0x80,
}

async function faultOfAuthenticatorData(
  bytes: Uint8Array,
  rpId: string,
): Promise<AssertionFault | undefined> {
  const flags = bytes[rpIdHashBytes]
  if (bytes.length < headBytes || flags === undefined) return 'authenticator_data'
  const rpIdHash = toHex(await sha256(new TextEncoder().encode(rpId)))
  if (toHex(bytes.slice(0, rpIdHashBytes)) !== rpIdHash) return 'rp_id'
  if (!(flags & flag.userPresent)) return 'user_presence'
  if (!(flags & flag.userVerified)) return 'user_verification'
  const isBackedUpAlone = flags & flag.backedUp && !(flags & flag.backupEligible)
  // Section 6.1: an assertion carries no attested credential data.
  if (isBackedUpAlone || flags & flag.attestedData) return 'authenticator_data'
  const rest = bytes.slice(headBytes)
  const isWhole = flags & flag.extensions ? readMap(rest) !== undefined : rest.length === 0
  return isWhole ? undefined : 'authenticator_data'
}

type Key = {
  jwk: Readonly<{ kty: string } & Record<string, string>>
  algorithm: { name: string; namedCurve?: string; hash?: string }
  isDer: boolean
}

/** True if the owner of the COSE_Key signed these bytes; false also for any other kind of key. */
async function isSignedBy(
  coseKey: Uint8Array,
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const known = readKey(coseKey)
  const raw = known?.isDer ? rawOf(signature) : signature
  if (!known || !raw) return false
  try {
    const { jwk, algorithm } = known
    const key = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify'])
    return await crypto.subtle.verify(algorithm, key, raw, signed)
  } catch {
    // The point is not on its curve, or the platform does not accept the modulus.
    return false
  }
}

/** True if the service accepts signatures by this COSE_Key. */
export function isUsableKey(coseKey: Uint8Array): boolean {
  return readKey(coseKey) !== undefined
}

// Labels and values of RFC 9052 section 7.1, RFC 9053 sections 2 and 7, RFC 8230 section 4.
const ec2 = { type: 2, alg: -7, curve: 1, labels: [1, 3, -1, -2, -3] }
const okp = { type: 1, alg: -8, curve: 6, labels: [1, 3, -1, -2] }
const rsa = { type: 3, alg: -257, labels: [1, 3, -1, -2] }
/** Bytes of a modulus: 2048 to 4096 bits. */
const modulusBytes = { min: 256, max: 512 }
const exponentBytesMax = 4

function readKey(bytes: Uint8Array): Key | undefined {
  const key = readMap(bytes)
  if (!key) return undefined
  const isOf = ({ type, alg, labels }: { type: number; alg: number; labels: readonly number[] }) =>
    key.size === labels.length &&
    labels.every((label) => key.has(label)) &&
    key.get(1) === type &&
    key.get(3) === alg
  if (isOf(ec2) && key.get(-1) === ec2.curve) {
    const [x, y] = [coordinate(key.get(-2)), coordinate(key.get(-3))]
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    return x && y ? { jwk: { kty: 'EC', crv: 'P-256', x, y }, algorithm, isDer: true } : undefined
  }
  if (isOf(okp) && key.get(-1) === okp.curve) {
    const x = coordinate(key.get(-2))
    const jwk = { kty: 'OKP', crv: 'Ed25519', ...(x ? { x } : {}) }
    return x ? { jwk, algorithm: { name: 'Ed25519' }, isDer: false } : undefined
  }
  return isOf(rsa) ? rsaKey(key.get(-1), key.get(-2)) : undefined
}

const coordinateBytes = 32

function coordinate(value: unknown): string | undefined {
  return value instanceof Uint8Array && value.length === coordinateBytes
    ? encodeForUrl(value)
    : undefined
}

function rsaKey(modulus: unknown, exponent: unknown): Key | undefined {
  if (!(modulus instanceof Uint8Array) || !(exponent instanceof Uint8Array)) return undefined
  const { length } = modulus
  if (length < modulusBytes.min || length > modulusBytes.max) return undefined
  if (exponent.length > exponentBytesMax) return undefined
  // RFC 8230 section 4: neither has leading zeros.
  if (modulus[0] === 0 || exponent[0] === 0) return undefined
  return {
    jwk: { kty: 'RSA', n: encodeForUrl(modulus), e: encodeForUrl(exponent) },
    algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    isDer: false,
  }
}

/** Converts the one DER encoding of r and s (X.690 section 8.3, RFC 3279 section 2.2.3) to 64 bytes. */
function rawOf(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined
  const r = integerAt(der, 2)
  const s = r && integerAt(der, r.end)
  if (!r || s?.end !== der.length) return undefined
  const raw = new Uint8Array(2 * coordinateBytes)
  raw.set(r.magnitude, coordinateBytes - r.magnitude.length)
  raw.set(s.magnitude, 2 * coordinateBytes - s.magnitude.length)
  return raw
}

/** Reads a positive INTEGER of at most 32 bytes: no sign bit, a leading zero only if the sign needs it. */
function integerAt(der: Uint8Array, at: number) {
  const length = der[at + 1] ?? 0
  const end = at + 2 + length
  const [first = 0, second = 0] = der.subarray(at + 2, end)
  if (der[at] !== 0x02 || length === 0 || end > der.length || first >= 0x80) return undefined
  const isPadded = first === 0
  if (isPadded && (length === 1 || second < 0x80)) return undefined
  const magnitude = der.subarray(at + (isPadded ? 3 : 2), end)
  return magnitude.length > coordinateBytes ? undefined : { magnitude, end }
}

/** Decodes bytes that are exactly one map; returns undefined otherwise. */
function readMap(bytes: Uint8Array): Map<unknown, unknown> | undefined {
  try {
    const map = decodeCBOR(bytes)
    if (!(map instanceof Map)) return undefined
    const shortest = encodeCBOR(map)
    const isShortest = shortest.length === bytes.length
    return isShortest && shortest.every((byte, at) => byte === bytes[at]) ? map : undefined
  } catch {
    return undefined
  }
}

/** Origin of the pages, and their host name, which is the relying party of passkeys. */
export type RelyingParty = { origin: string; rpId: string }

/** Returns the place of the pages below this address. */
export function relyingPartyOf(webUrl: string): RelyingParty {
  const { origin, hostname } = new URL(webUrl)
  return { origin, rpId: hostname }
}
