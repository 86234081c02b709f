/** A pair of keys for session tokens, as the bindings want it: JWK and JWKS (RFC 8037). */
import { generateKeyPairSync, randomBytes } from 'node:crypto'

export function createSessionKeys(): { privateKey: string; publicKeys: string } {
  const pair = generateKeyPairSync('ed25519')
  const kid = randomBytes(6).toString('hex')
  const named = { alg: 'EdDSA', use: 'sig', kid }
  const publicKey = { ...pair.publicKey.export({ format: 'jwk' }), ...named }
  return {
    privateKey: JSON.stringify({ ...pair.privateKey.export({ format: 'jwk' }), ...named }),
    publicKeys: JSON.stringify({ keys: [publicKey] }),
  }
}
