/**
 * The second verifier of an owner's WebAuthn assertion (level 3, section 7.2), independent of the library
 * that the pages use. Code that relies on consent runs it over the stored assertion. It uses no clock,
 * network or database; the ledger checks the counter and single use. Where the two verifiers disagree, this
 * one is stricter: binary values have one encoding, keys and authenticator data hold nothing but what they
 * must, and framed pages are refused.
 */
import { decodeBytes, encodeForUrl, parseJson } from '../base64.ts'
import { fromHex, sha256, toHex } from '../digest.ts'
import { readMap } from './cbor.ts'
import type { RelyingParty } from './place.ts'
import { isSignedBy } from './signature.ts'

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
