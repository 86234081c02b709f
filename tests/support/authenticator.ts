/**
 * A passkey in software: one P-256 key that answers as an authenticator does (WebAuthn sections 6.1
 * and 6.5), and, where a test says so, as none should.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import * as z from 'zod'
import type { Browser, Shown } from './browserless.ts'

type Fault = {
  origin?: string
  host?: string
  isUserVerified?: boolean
  counter?: number
  challenge?: string
}

const optionsShape = z.object({
  challenge: z.string(),
  user: z.object({ id: z.string() }).optional(),
})
const point = z.object({ x: z.string(), y: z.string() })
const flags = { present: 1, verified: 4, attested: 64 }

export function openAuthenticator() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  let counter = 0
  let userHandle: string | undefined

  function authenticatorData(
    { host = 'localhost', isUserVerified = true, ...fault }: Fault,
    extra: number,
  ) {
    const verified = isUserVerified ? flags.verified : 0
    const head = Buffer.alloc(5)
    head[0] = flags.present + verified + extra
    head.writeUInt32BE(fault.counter ?? counter, 1)
    return Buffer.concat([createHash('sha256').update(host).digest(), head])
  }

  const common = {
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
  }

  return {
    id: common.id,
    /** What navigator.credentials.create answers. */
    create(options: unknown, fault: Fault = {}): string {
      const { challenge, user } = optionsShape.parse(options)
      userHandle = user?.id
      const { x, y } = point.parse(publicKey.export({ format: 'jwk' }))
      // COSE_Key (RFC 9052): kty EC2, alg ES256, crv P-256, x, y.
      const cose = ['a5010203262001215820', hexOf(x), '225820', hexOf(y)].join('')
      const key = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, id.length]),
        id,
        Buffer.from(cose, 'hex'),
      ])
      const data = Buffer.concat([authenticatorData(fault, flags.attested), key])
      // {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([data.length]),
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
    /** What navigator.credentials.get answers; it counts on. */
    get(options: unknown, fault: Fault = {}): string {
      const { challenge } = optionsShape.parse(options)
      counter += 1
      const data = authenticatorData(fault, 0)
      const clientDataJSON = clientData('webauthn.get', challenge, fault)
      const digest = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
      const signature = sign('sha256', Buffer.concat([data, digest]), privateKey).toString(
        'base64url',
      )
      const response = {
        clientDataJSON,
        authenticatorData: data.toString('base64url'),
        signature,
        ...(userHandle ? { userHandle } : {}),
      }
      return JSON.stringify({ ...common, response })
    },
  }
}

export type Authenticator = ReturnType<typeof openAuthenticator>

/** What the script of a page asks for before it turns to the authenticator. */
export async function optionsOf(browser: Browser, path: string): Promise<unknown> {
  const answer = await askOptions(browser, path)
  return JSON.parse(answer.html)
}

export function askOptions(browser: Browser, path: string): Promise<Shown> {
  const body = new URLSearchParams({ form: browser.cookies.get('__Host-aoa_form') ?? '' })
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/x-www-form-urlencoded',
  }
  return browser.send(`${path}/options`, { method: 'POST', body: body.toString(), headers })
}

function clientData(
  type: string,
  asked: string,
  { origin = 'http://localhost', challenge = asked }: Fault,
) {
  const data = { type, challenge, origin, crossOrigin: false }
  return Buffer.from(JSON.stringify(data)).toString('base64url')
}

function hexOf(text: string): string {
  return Buffer.from(text, 'base64url').toString('hex')
}
