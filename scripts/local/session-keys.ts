/** Pairs of keys as the bindings want them: JWK and JWKS (RFC 7517, RFC 8037). */
import { generateKeyPairSync, randomBytes } from 'node:crypto'

type KeyPair = { privateKey: string; publicKeys: string }

/** For session tokens. */
export function createSessionKeys(): KeyPair {
  const pair = generateKeyPairSync('ed25519')
  const kid = randomBytes(6).toString('hex')
  const named = { alg: 'EdDSA', use: 'sig', kid }
  const publicKey = { ...pair.publicKey.export({ format: 'jwk' }), ...named }
  return {
    privateKey: JSON.stringify({ ...pair.privateKey.export({ format: 'jwk' }), ...named }),
    publicKeys: JSON.stringify({ keys: [publicKey] }),
  }
}

/** For consent receipts; they are named by their thumbprint, which needs no telling. */
export function createReceiptKeys(): KeyPair {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    privateKey: JSON.stringify(pair.privateKey.export({ format: 'jwk' })),
    publicKeys: JSON.stringify({ keys: [pair.publicKey.export({ format: 'jwk' })] }),
  }
}
