/**
 * What a browser is asked for: a new passkey, or one that the owner has. The authenticator must know
 * who holds it (user verification), and keys are discoverable, so signing in needs no name.
 */
import { encodeForUrl, encodeTextForUrl } from '../base64.ts'
import { placeOf } from '../consent/place.ts'
import { fromHex } from '../digest.ts'
import type { World } from '../world.ts'

/** EdDSA, ES256, RS256 as COSE numbers them, in the order of our liking. */
export const passkeyAlgorithms = [-8, -7, -257]
const timeoutMilliseconds = 300_000

/** A new challenge: 256 random bits. */
export function newChallenge(world: World): string {
  return encodeForUrl(world.randomBytes(32))
}

/** What navigator.credentials.create takes, by PublicKeyCredential.parseCreationOptionsFromJSON. */
export function creationOptions(
  world: World,
  challenge: string,
  owner: {
    account: string
    email: string
    passkeys: readonly { id: string; transports: readonly string[] }[]
  },
) {
  return {
    challenge,
    // A passkey that is made here works nowhere else.
    rp: { id: placeOf(world.config.WEB_URL).rpId, name: 'Agent Operating Account' },
    user: { id: encodeTextForUrl(owner.account), name: owner.email, displayName: owner.email },
    pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout: timeoutMilliseconds,
    attestation: 'none',
    excludeCredentials: owner.passkeys.map(({ id, transports }) => ({
      type: 'public-key',
      id,
      transports,
    })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
  }
}

/** What navigator.credentials.get takes; any passkey of this site will do. */
export function requestOptions(world: World, challenge: string) {
  return {
    challenge,
    rpId: placeOf(world.config.WEB_URL).rpId,
    timeout: timeoutMilliseconds,
    userVerification: 'required',
  }
}

/** The same to have terms signed, by one of these: the challenge is their digest, lower-case hex. */
export function consentOptions(
  world: World,
  digest: string,
  passkeys: readonly { id: string; transports: readonly string[] }[],
) {
  const allowCredentials = passkeys.map((passkey) => ({ type: 'public-key', ...passkey }))
  return { ...requestOptions(world, encodeForUrl(fromHex(digest))), allowCredentials }
}
