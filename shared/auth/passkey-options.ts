/**
 * Options that a browser gets to make a new passkey or to use one that the owner has. Authenticators must
 * verify the user. Keys are discoverable, so signing in needs no name.
 */
import { encodeForUrl, encodeTextForUrl } from '../base64.ts'
import { relyingPartyOf } from '../consent/place.ts'
import { fromHex } from '../digest.ts'
import type { World } from '../world.ts'

/** COSE algorithm numbers of EdDSA, ES256 and RS256, in order of preference. */
export const passkeyAlgorithms = [-8, -7, -257]
const timeoutMilliseconds = 300_000

/** Makes a new challenge of 256 random bits, base64url. */
export function newChallenge(world: World): string {
  return encodeForUrl(world.randomBytes(32))
}

/** Returns what navigator.credentials.create takes, by PublicKeyCredential.parseCreationOptionsFromJSON. */
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
    // The relying party id binds the passkey to the host of WEB_URL.
    rp: { id: relyingPartyOf(world.config.WEB_URL).rpId, name: 'Agent Operating Account' },
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

/** Returns the input of navigator.credentials.get; any passkey of this site is accepted. */
export function requestOptions(world: World, challenge: string) {
  return {
    challenge,
    rpId: relyingPartyOf(world.config.WEB_URL).rpId,
    timeout: timeoutMilliseconds,
    userVerification: 'required',
  }
}

/** Returns the same for signing terms with one of these passkeys; the challenge is their digest (hex). */
export function consentOptions(
  world: World,
  digest: string,
  passkeys: readonly { id: string; transports: readonly string[] }[],
) {
  const allowCredentials = passkeys.map((passkey) => ({ type: 'public-key', ...passkey }))
  return { ...requestOptions(world, encodeForUrl(fromHex(digest))), allowCredentials }
}
