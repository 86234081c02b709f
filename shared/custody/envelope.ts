/**
 * Seals private keys for storage. A root's key wraps a data key, and a key derived from that seals the
 * private key, both with XChaCha20-Poly1305. Both are bound to the account and the latter to the address,
 * so it opens for those only. It does not hide that an account has a key.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import * as z from 'zod'
import { decodeBase64, encodeBase64 } from '../base64.ts'
import { encodeAssociatedData } from '../sealing/associated-data.ts'
import { derivationSalt, type Roots } from '../sealing/roots.ts'
import {
  keyBytes,
  nonceBytes,
  tagBytes,
  unwrapKey,
  useThenWipe,
  wrapKey,
  wrapSchema,
} from '../sealing/wrap.ts'
import { addressOf, type RandomBytes } from './accounts.ts'

const recordVersion = 1

const base64Text = z.string().max(64)

const schema = z.strictObject({
  /** Version of this record's shape and derivation. */
  version: z.literal(recordVersion),
  /** Data key, wrapped by the key-encryption key of a root. */
  wrap: wrapSchema,
  nonce: base64Text,
  ciphertext: base64Text,
})

/** Envelope as plain JSON: versions as numbers, bytes in base64. */
export type Envelope = z.output<typeof schema>

/** Owner of a key. A relayer's key has the account `relayer`. Addresses compare without case. */
export type KeyBinding = { account: string; address: string }

/** Reads a stored envelope. Throws if it has another shape. */
export function readEnvelope(stored: unknown): Envelope {
  return schema.parse(stored)
}

/** Seals a private key for its account. The caller still owns `privateKey` and zeroes it. */
export function sealKey(
  roots: Roots,
  random: RandomBytes,
  binding: KeyBinding,
  privateKey: Uint8Array,
): Envelope {
  // Money sent to an address that belongs to another key could never be moved again.
  if (addressOf(privateKey).toLowerCase() !== binding.address.toLowerCase()) {
    throw new Error('the address to seal for is not that of the key')
  }
  return useThenWipe(random(keyBytes), (dataKey) => {
    const nonce = random(nonceBytes)
    const ciphertext = useThenWipe(recordKey(dataKey, binding), (key) =>
      xchacha20poly1305(key, nonce, recordData(binding)).encrypt(privateKey),
    )
    return {
      version: recordVersion,
      wrap: wrapKey(roots, random, binding.account, dataKey),
      nonce: encodeBase64(nonce),
      ciphertext: encodeBase64(ciphertext),
    }
  })
}

/** Opens a private key of 32 bytes. Throws unless the envelope is this binding's, untouched. */
export function openKey(roots: Roots, binding: KeyBinding, envelope: Envelope): Uint8Array {
  const { nonce, ciphertext } = envelope
  return useThenWipe(unwrapKey(roots, binding.account, envelope.wrap), (dataKey) =>
    useThenWipe(recordKey(dataKey, binding), (key) =>
      xchacha20poly1305(key, decodeBase64(nonce, nonceBytes), recordData(binding)).decrypt(
        decodeBase64(ciphertext, keyBytes + tagBytes),
      ),
    ),
  )
}

/** Lends the opened key to `use` and fills it with zeros when that ends, even if it fails. */
export async function withKey<T>(
  roots: Roots,
  binding: KeyBinding,
  envelope: Envelope,
  use: (privateKey: Uint8Array) => Promise<T>,
): Promise<T> {
  const privateKey = openKey(roots, binding, envelope)
  try {
    return await use(privateKey)
  } finally {
    privateKey.fill(0)
  }
}

function recordKey(dataKey: Uint8Array, binding: KeyBinding): Uint8Array {
  return hkdf(sha256, dataKey, derivationSalt, recordData(binding), keyBytes)
}

function recordData({ account, address }: KeyBinding): Uint8Array {
  const version = String(recordVersion)
  return encodeAssociatedData(['custody', 'record', account, 'evm', address.toLowerCase(), version])
}
