/** Makes key pairs in the form that the bindings take: JWK and JWKS (RFC 7517, RFC 8037). */
import { generateKeyPairSync, randomBytes } from 'node:crypto'

type KeyPair = { privateKey: string; publicKeys: string }

/** Makes the keys of session tokens. */
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

/** Makes the keys of consent receipts. They have no `kid`, because they are named by their thumbprint. */
export function createReceiptKeys(): KeyPair {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    privateKey: JSON.stringify(pair.privateKey.export({ format: 'jwk' })),
    publicKeys: JSON.stringify({ keys: [pair.publicKey.export({ format: 'jwk' })] }),
  }
}
