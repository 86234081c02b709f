/**
 * A software passkey with one key. It answers as an authenticator does (WebAuthn sections 6.1 and 6.5), or
 * wrongly where a test asks for a fault.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Browser, ownForm, type Shown } from './browserless.ts'
import { openPasskeyKey, type PasskeyAlgorithm } from './passkey-key.ts'
import { randomBytes } from './seed.ts'

type Fault = {
  origin?: string
  host?: string
  isUserVerified?: boolean
  counter?: number
  challenge?: string
  /** Members of the client data that replace the right ones or are added to them. */
  clientData?: Record<string, unknown>
  /** Bits that are XORed into the flags. */
  flipFlags?: number
  /** Bytes that follow the authenticator data, where extensions go. */
  extra?: Uint8Array
}

const optionsShape = z.object({
  challenge: z.string(),
  user: z.object({ id: z.string() }).optional(),
})
const flags = { present: 1, verified: 4, attested: 64 }

export function openAuthenticator(algorithm: PasskeyAlgorithm = 'ES256') {
  const key = openPasskeyKey(algorithm)
  const id = randomBytes(16)
  let counter = 0
  let userHandle: string | undefined

  function authenticatorData(
    { host = 'localhost', isUserVerified = true, flipFlags = 0, ...fault }: Fault,
    extra: number,
  ) {
    const verified = isUserVerified ? flags.verified : 0
    const head = Buffer.alloc(5)
    head[0] = (flags.present + verified + extra) ^ flipFlags
    head.writeUInt32BE(fault.counter ?? counter, 1)
    const tail = fault.extra ?? Buffer.alloc(0)
    return Buffer.concat([createHash('sha256').update(host).digest(), head, tail])
  }

  const common = {
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
  }

  return {
    id: common.id,
    key,
    /** Returns the answer of navigator.credentials.create. */
    create(options: unknown, fault: Fault = {}): string {
      const { challenge, user } = optionsShape.parse(options)
      userHandle = user?.id
      const named = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key.cose])
      const data = Buffer.concat([authenticatorData(fault, flags.attested), named])
      // {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
        Buffer.from([data.length >> 8, data.length & 0xff]),
        data,
      ])
      const clientDataJSON = clientData('webauthn.create', challenge, fault)
      const response = {
        clientDataJSON,
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      }
      return JSON.stringify({ ...common, response })
    },
    /** Returns the answer of navigator.credentials.get and increments the counter. */
    get(options: unknown, fault: Fault = {}): string {
      const { challenge } = optionsShape.parse(options)
      counter += 1
      const data = authenticatorData(fault, 0)
      const clientDataJSON = clientData('webauthn.get', challenge, fault)
      const digest = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
      const response = {
        clientDataJSON,
        authenticatorData: data.toString('base64url'),
        signature: key.sign(Buffer.concat([data, digest])).toString('base64url'),
        ...(userHandle ? { userHandle } : {}),
      }
      return JSON.stringify({ ...common, response })
    },
  }
}

export type Authenticator = ReturnType<typeof openAuthenticator>

/** Returns the options that a page's script requests before it calls the authenticator. */
export async function optionsOf(browser: Browser, path: string): Promise<unknown> {
  const answer = await askOptions(browser, path)
  return JSON.parse(answer.html)
}

function askOptions(browser: Browser, path: string): Promise<Shown> {
  const body = new URLSearchParams({ form: ownForm(browser) })
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/x-www-form-urlencoded',
  }
  return browser.send(`${path}/options`, { method: 'POST', body: body.toString(), headers })
}

function clientData(
  type: string,
  asked: string,
  { origin = 'http://localhost', challenge = asked, clientData: other = {} }: Fault,
) {
  const data = { type, challenge, origin, crossOrigin: false, ...other }
  return Buffer.from(JSON.stringify(data)).toString('base64url')
}

/**
 * Returns the options that the page asks an authenticator to sign while these boxes are ticked, and the
 * digest in its form.
 */
export function consentAskedOn(
  { html }: Pick<Shown, 'html'>,
  ...ticked: string[]
): { options: Record<string, unknown>; digest: string } {
  const [, attribute = '{}'] = /data-consent="([^"]*)"/.exec(html) ?? []
  const [, challenges = ''] = /data-challenges="([^"]*)"/.exec(html) ?? []
  const [, digest = ''] = /name="digest" value="([0-9a-f]{64})"/.exec(html) ?? []
  const options = z.looseObject({}).parse(JSON.parse(attribute.replaceAll('&quot;', '"')))
  const challenge = new URLSearchParams(challenges.replaceAll('&amp;', '&')).get(ticked.join(' '))
  return { options: { ...options, challenge }, digest }
}
