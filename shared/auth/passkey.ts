/**
 * Whether what a browser answered for a passkey is good: WebAuthn level 3, sections 7.1 and 7.2.
 * Which challenge was given to whom is kept in the database and is taken there.
 */
import type { AuthenticatorTransport } from '@simplewebauthn/server'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import * as z from 'zod'
import { decodeBytes, encodeForUrl, encodeTextForUrl } from '../base64.ts'
import { placeOf } from '../consent/place.ts'
import { isUsableKey } from '../consent/signature.ts'
import type { World } from '../world.ts'
import type { Assertion, Registration } from './passkey-answer.ts'
import { passkeyAlgorithms } from './passkey-options.ts'

/** What the database keeps of a passkey to verify with; binary values in base64url. */
export const passkeyRow = z.object({
  public_key: z.string(),
  counter: z.string(),
  transports: z.array(z.string()),
})

/** A passkey by its credential id. */
export type Passkey = { id: string } & z.output<typeof passkeyRow>

/** The new passkey; undefined when the answer is not good for this challenge, origin or user. */
export async function verifyRegistration(
  world: World,
  answer: Registration,
  expectedChallenge: string,
): Promise<Passkey | undefined> {
  const { transports } = answer.response
  const verified = await verifyRegistrationResponse({
    response: { ...answer, response: { ...answer.response, transports: known(transports) } },
    expectedChallenge,
    ...expectedPlace(world),
    requireUserVerification: true,
    supportedAlgorithmIDs: passkeyAlgorithms,
  }).catch(() => undefined)
  const credential = verified?.registrationInfo?.credential
  if (!verified?.verified || !credential) return undefined
  // Else its owner could sign in with it and approve nothing.
  if (!isUsableKey(credential.publicKey)) return undefined
  return {
    id: credential.id,
    public_key: encodeForUrl(credential.publicKey),
    counter: String(credential.counter),
    transports: known(transports),
  }
}

/**
 * The counter after a good assertion; undefined when it is not good. An authenticator that counts
 * and did not count on is refused: there may be a copy of it.
 */
export async function verifyAssertion(
  world: World,
  answer: Assertion,
  expectedChallenge: string,
  passkey: Passkey,
): Promise<string | undefined> {
  const publicKey = decodeBytes(passkey.public_key)
  if (!publicKey) throw new Error('a stored passkey cannot be read')
  const { userHandle, ...response } = answer.response
  const verified = await verifyAuthenticationResponse({
    response: { ...answer, response: { ...response, ...(userHandle ? { userHandle } : {}) } },
    expectedChallenge,
    ...expectedPlace(world),
    requireUserVerification: true,
    credential: { id: passkey.id, publicKey, counter: Number(passkey.counter) },
  }).catch(() => undefined)
  return verified?.verified ? String(verified.authenticationInfo.newCounter) : undefined
}

function expectedPlace({ config }: World) {
  const { origin, rpId } = placeOf(config.WEB_URL)
  return { expectedOrigin: origin, expectedRPID: rpId }
}

/** Whether an assertion is by a passkey that was made for this account. */
export function isOfAccount({ response }: Assertion, account: string): boolean {
  return response.userHandle === undefined || response.userHandle === encodeTextForUrl(account)
}

const transportNames = new Set<string>([
  'ble',
  'cable',
  'hybrid',
  'internal',
  'nfc',
  'smart-card',
  'usb',
])

function known(transports: readonly string[]): AuthenticatorTransport[] {
  const isKnown = (name: string): name is AuthenticatorTransport => transportNames.has(name)
  return transports.filter(isKnown)
}
