/**
 * Passkeys (WebAuthn level 3): what a browser is asked for, and whether what it answers is good. The
 * authenticator must know who holds it (user verification), and the key is discoverable, so signing
 * in needs no name. Which challenge was given to whom is kept in the database.
 */
import type { AuthenticatorTransport } from '@simplewebauthn/server'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import * as z from 'zod'
import { decodeBytes, decodeText, encodeForUrl, encodeTextForUrl, parseJson } from '../base64.ts'
import type { World } from '../world.ts'

/** EdDSA, ES256, RS256 as COSE numbers them, in the order of our liking. */
const algorithms = [-8, -7, -257]
const timeoutMilliseconds = 300_000

/** What a passkey is kept as; binary values in base64url. */
export type Passkey = {
  id: string
  public_key: string
  counter: string
  transports: string[]
}

const bytes = z.string().regex(/^[\w-]+$/)
const common = {
  id: bytes.max(1400),
  rawId: bytes,
  type: z.literal('public-key'),
  clientExtensionResults: z.looseObject({}).default({}),
}
const registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(20)).max(8).default([]),
  }),
})
const assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes.optional(),
  }),
})

/** A browser's answer with a new passkey. */
export type Registration = z.output<typeof registration>
/** A browser's answer that shows a passkey. */
export type Assertion = z.output<typeof assertion>

/** Reads what a form carried; undefined when it is no such answer. */
export function readRegistration(text: string): Registration | undefined {
  return registration.safeParse(parseJson(text)).data
}

/** Reads what a form carried; undefined when it is no such answer. */
export function readAssertion(text: string): Assertion | undefined {
  return assertion.safeParse(parseJson(text)).data
}

/** The challenge that an answer claims to be for. It is trusted only once it was taken. */
export function challengeOf({ response }: Registration | Assertion): string {
  const data = z
    .object({ challenge: bytes })
    .safeParse(parseJson(decodeText(response.clientDataJSON) ?? ''))
  return data.data?.challenge ?? ''
}

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
    passkeys: readonly Pick<Passkey, 'id' | 'transports'>[]
  },
) {
  return {
    challenge,
    rp: { id: relyingParty(world).id, name: 'Agent Operating Account' },
    user: { id: encodeTextForUrl(owner.account), name: owner.email, displayName: owner.email },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
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
  const { id } = relyingParty(world)
  return { challenge, rpId: id, timeout: timeoutMilliseconds, userVerification: 'required' }
}

/** The new passkey; undefined when the answer is not good for this challenge, origin or user. */
export async function verifyRegistration(
  world: World,
  answer: Registration,
  expectedChallenge: string,
): Promise<Passkey | undefined> {
  const { id, origin } = relyingParty(world)
  const { transports } = answer.response
  const verified = await verifyRegistrationResponse({
    response: { ...answer, response: { ...answer.response, transports: known(transports) } },
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => undefined)
  const credential = verified?.registrationInfo?.credential
  if (!verified?.verified || !credential) return undefined
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
  const { id, origin } = relyingParty(world)
  const publicKey = decodeBytes(passkey.public_key)
  if (!publicKey) throw new Error('a stored passkey cannot be read')
  const { userHandle, ...response } = answer.response
  const verified = await verifyAuthenticationResponse({
    response: { ...answer, response: { ...response, ...(userHandle ? { userHandle } : {}) } },
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    credential: { id: passkey.id, publicKey, counter: Number(passkey.counter) },
  }).catch(() => undefined)
  return verified?.verified ? String(verified.authenticationInfo.newCounter) : undefined
}

/** Whether an assertion is by a passkey that was made for this account. */
export function isOfAccount({ response }: Assertion, account: string): boolean {
  return response.userHandle === undefined || response.userHandle === encodeTextForUrl(account)
}

function relyingParty({ config }: World) {
  const { origin, hostname } = new URL(config.WEB_URL)
  return { id: hostname, origin }
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
