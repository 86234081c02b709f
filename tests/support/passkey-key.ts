/** The key pair of a passkey, of each kind that the service accepts, with its COSE_Key (RFC 9052). */
import { generateKeyPairSync, sign } from 'node:crypto'
import * as z from 'zod'

export type PasskeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256'

export type PasskeyKey = {
  cose: Buffer
  sign(bytes: Uint8Array): Buffer
}

const jwk = z.object({
  x: z.string().default(''),
  y: z.string().default(''),
  n: z.string().default(''),
})

const makers: Record<PasskeyAlgorithm, () => PasskeyKey> = {
  ES256() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x, y } = jwk.parse(publicKey.export({ format: 'jwk' }))
    // kty EC2, alg ES256, crv P-256, x, y.
    const cose = Buffer.from(`a5010203262001215820${hexOf(x)}225820${hexOf(y)}`, 'hex')
    return { cose, sign: (bytes) => sign('sha256', bytes, privateKey) }
  },
  EdDSA() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const { x } = jwk.parse(publicKey.export({ format: 'jwk' }))
    // kty OKP, alg EdDSA, crv Ed25519, x.
    const cose = Buffer.from(`a4010103272006215820${hexOf(x)}`, 'hex')
    return { cose, sign: (bytes) => sign(null, bytes, privateKey) }
  },
  RS256() {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const { n } = jwk.parse(publicKey.export({ format: 'jwk' }))
    // kty RSA, alg RS256, n of 256 bytes, e 65537.
    const cose = Buffer.from(`a401030339010020590100${hexOf(n)}2143010001`, 'hex')
    return { cose, sign: (bytes) => sign('sha256', bytes, privateKey) }
  },
}

export function openPasskeyKey(algorithm: PasskeyAlgorithm): PasskeyKey {
  return makers[algorithm]()
}

function hexOf(text: string): string {
  return Buffer.from(text, 'base64url').toString('hex')
}
