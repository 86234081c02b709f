/**
 * Verification of what a browser answered for a passkey: WebAuthn level 3, sections 7.1 and 7.2. This file
 * does not check to whom a challenge was given; the database keeps the challenges and takes them back.
 */
import {
  type AuthenticatorTransport,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import * as z from 'zod'
import { decodeBytes, decodeText, encodeForUrl, encodeTextForUrl, parseJson } from '../base64.ts'
import { isUsableKey, relyingPartyOf } from '../consent/assertion.ts'
import { fromHex } from '../digest.ts'
import type { World } from '../world.ts'

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

const bytes = z.string().regex(/^[\w-]+$/)
/** Reads a value that the authenticator lacks as absent: browsers leave it out, or write null or nothing. */
const orAbsent = <Value extends z.ZodType>(value: Value) =>
  z.preprocess((sent) => (sent === null || sent === '' ? undefined : sent), value)
const common = {
  id: bytes.max(1400),
  rawId: bytes,
  type: z.literal('public-key'),
  clientExtensionResults: orAbsent(z.looseObject({}).default({})),
}
const registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: orAbsent(z.array(z.string().max(20)).max(8).default([])),
  }),
})
const assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: orAbsent(bytes.optional()),
  }),
})

/** A browser's answer with a new passkey. */
export type PasskeyRegistration = z.output<typeof registration>
/** A browser's answer with an assertion by a passkey. */
export type Assertion = z.output<typeof assertion>

/** Parses a registration from a form field; returns undefined if it has another form. */
export function readPasskeyRegistration(text: string): PasskeyRegistration | undefined {
  return registration.safeParse(parseJson(text)).data
}

/** Parses an assertion from a form field; returns undefined if it has another form. */
export function readAssertion(text: string): Assertion | undefined {
  return assertion.safeParse(parseJson(text)).data
}

/** Returns the challenge that an answer claims to be for, or ''. Trust it only once it was checked. */
export function claimedChallenge({ response }: PasskeyRegistration | Assertion): string {
  const data = z
    .object({ challenge: bytes })
    .safeParse(parseJson(decodeText(response.clientDataJSON) ?? ''))
  return data.data?.challenge ?? ''
}

/** COSE algorithm numbers of EdDSA, ES256 and RS256, in order of preference. */
const passkeyAlgorithms = [-8, -7, -257]
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
