/**
 * Signatures of passkeys: ES256, EdDSA and RS256, the three that this service requests. A key has exactly
 * the form that WebAuthn section 5.8.5 gives a COSE_Key; any other key verifies nothing.
 */
import { encodeForUrl } from '../base64.ts'
import { readMap } from './cbor.ts'

type Key = {
  jwk: Readonly<{ kty: string } & Record<string, string>>
  algorithm: { name: string; namedCurve?: string; hash?: string }
  isDer: boolean
}

/** True if the owner of the COSE_Key signed these bytes; false also for any other kind of key. */
export async function isSignedBy(
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
