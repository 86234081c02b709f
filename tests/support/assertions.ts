/** WebAuthn assertions over a digest in stored form, and the verdict of the pages' own library. */
import { createHash } from 'node:crypto'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import * as z from 'zod'
import type { Expected, StoredAssertion } from '../../shared/consent/assertion.ts'
import type { PasskeyKey } from './passkey-key.ts'

/** Origin and relying party id of the pages in the tests. */
export const place = { origin: 'http://localhost', rpId: 'localhost' }

const answered = z.object({
  response: z.object({
    clientDataJSON: z.string(),
    authenticatorData: z.string(),
    signature: z.string(),
  }),
})

/** Converts a browser's answer to the stored form. */
export function storedOf(answer: string, key: PasskeyKey): StoredAssertion {
  const { response } = answered.parse(JSON.parse(answer))
  return {
    public_key: key.cose.toString('base64url'),
    client_data: response.clientDataJSON,
    authenticator_data: response.authenticatorData,
    signature: response.signature,
  }
}

/** Returns the WebAuthn challenge for a digest. */
export function challengeFor(digest: string): string {
  return Buffer.from(digest, 'hex').toString('base64url')
}

/** Signs any bytes as an authenticator does. */
export function signedBy(
  key: PasskeyKey,
  clientData: Uint8Array,
  authenticatorData: Uint8Array,
): StoredAssertion {
  const hash = createHash('sha256').update(clientData).digest()
  return {
    public_key: key.cose.toString('base64url'),
    client_data: Buffer.from(clientData).toString('base64url'),
    authenticator_data: Buffer.from(authenticatorData).toString('base64url'),
    signature: key.sign(Buffer.concat([authenticatorData, hash])).toString('base64url'),
  }
}

/** Builds authenticator data with these flags for this host. */
export function authenticatorData(host: string, flags: number, tail: Uint8Array = Buffer.alloc(0)) {
  const head = Buffer.from([flags, 0, 0, 0, 0])
  return Buffer.concat([createHash('sha256').update(host).digest(), head, tail])
}

/** Decides whether @simplewebauthn/server accepts the assertion when it is called as the pages call it. */
export async function libraryAccepts(
  stored: StoredAssertion,
  { digest, origin, rpId }: Expected,
): Promise<boolean> {
  const id = 'AAAAAAAAAAAAAAAAAAAAAA'
  const { client_data, authenticator_data, signature, public_key } = stored
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client_data,
          authenticatorData: authenticator_data,
          signature,
        },
      },
      expectedChallenge: challengeFor(digest),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: {
        id,
        publicKey: new Uint8Array(Buffer.from(public_key, 'base64url')),
        counter: 0,
      },
    })
    return verified
  } catch {
    return false
  }
}
