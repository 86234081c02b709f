/**
 * Verification of what a browser answered for a passkey: WebAuthn level 3, sections 7.1 and 7.2. This file
 * does not check to whom a challenge was given; the database keeps the challenges and takes them back.
 */
import type { AuthenticatorTransport } from '@simplewebauthn/server'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import * as z from 'zod'
import { decodeBytes, encodeForUrl, encodeTextForUrl } from '../base64.ts'
import { relyingPartyOf } from '../consent/place.ts'
import { isUsableKey } from '../consent/signature.ts'
import type { World } from '../world.ts'
import type { Assertion, PasskeyRegistration } from './passkey-answer.ts'
import { passkeyAlgorithms } from './passkey-options.ts'

/** Fields of a passkey that verification needs, as the database stores them; binary values in base64url. */
export const passkeyRow = z.object({
  public_key: z.string(),
  counter: z.string(),
  transports: z.array(z.string()),
})

/** A passkey with its credential id. */
export type Passkey = { id: string } & z.output<typeof passkeyRow>

/** Returns the new passkey; undefined if the answer is not valid for this challenge, origin or user. */
export async function verifyRegistration(
  world: World,
  answer: PasskeyRegistration,
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
  // Otherwise the owner could sign in with it but not approve anything.
  if (!isUsableKey(credential.publicKey)) return undefined
  return {
    id: credential.id,
    public_key: encodeForUrl(credential.publicKey),
    counter: String(credential.counter),
    transports: known(transports),
  }
}

/**
 * Verifies an assertion and returns the new counter; undefined if it is not valid. Refuses an authenticator
 * that keeps a counter if it did not increase, because a copy of it may exist.
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
  const { origin, rpId } = relyingPartyOf(config.WEB_URL)
  return { expectedOrigin: origin, expectedRPID: rpId }
}

/** True if the assertion names this account as its user, or names no user. */
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
