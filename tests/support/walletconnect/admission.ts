/** The relay's check of a client's token: an Ed25519 signature by the key that is the client's name. */
import { createPublicKey, verify } from 'node:crypto'
import * as z from 'zod'

const claimsSchema = z.object({
  iss: z.string().startsWith('did:key:z'),
  sub: z.string().min(1),
  aud: z.string(),
  iat: z.int(),
  exp: z.int(),
  act: z.literal('client_auth').optional(),
})
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** SubjectPublicKeyInfo of an Ed25519 key (RFC 8410) up to the key. */
const spki = '302a300506032b6570032100'

/** Returns the client's name, or undefined for a token that is forged, expired or for another relay. */
export function clientOf(token: string, relay: string): string | undefined {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const claims = claimsSchema.safeParse(read(payload))
  if (!claims.success) return undefined
  const { iss, aud, iat, exp } = claims.data
  const seconds = Date.now() / 1000
  if (aud !== relay || iat > seconds + 1 || exp < seconds) return undefined
  const [, key] = /^ed01([0-9a-f]{64})$/.exec(fromBase58(iss.slice('did:key:z'.length))) ?? []
  if (key === undefined) return undefined
  const der = Buffer.from(spki + key, 'hex')
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
  const signed = Buffer.from(`${header}.${payload}`)
  return verify(null, signed, publicKey, Buffer.from(signature, 'base64url')) ? iss : undefined
}

function read(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return undefined
  }
}

function fromBase58(text: string): string {
  const digits = Array.from(text, (letter) => BigInt(base58.indexOf(letter)))
  return digits.reduce((sum, digit) => sum * 58n + digit, 0n).toString(16)
}
