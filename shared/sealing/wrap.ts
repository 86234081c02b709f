/**
 * The key of an account, wrapped under the key-encryption key of a root, as it is stored. Purpose, account
 * and root version are bound into it. Rotation rewraps these rows and not the records that the keys
 * protect. Deleting a row makes everything that its key sealed unreadable for ever.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import * as z from 'zod'
import { decodeBase64, encodeBase64 } from '../base64.ts'
import { encodeAssociatedData } from './associated-data.ts'
import type { Roots } from './roots.ts'

// draft-irtf-cfrg-xchacha-03 section 2.1: a nonce of 24 bytes is long enough to be drawn at random.
/** Bytes of an XChaCha20-Poly1305 nonce. */
export const nonceBytes = 24
/** Bytes of every account key and key-encryption key. */
export const keyBytes = 32
/** Bytes of the authentication tag that sealing adds. */
export const tagBytes = 16

const base64Text = z.string().max(64)

/** Shape of a stored wrap: plain JSON, bytes in base64. */
export const wrapSchema = z.strictObject({
  kekVersion: z.int().positive(),
  nonce: base64Text,
  ciphertext: base64Text,
})

/** A wrapped key of 32 bytes. */
export type WrappedAccountKey = z.output<typeof wrapSchema>

type RandomBytes = (length: number) => Uint8Array

/** Wraps a 32-byte key under the root that seals. The caller still owns the key and fills it with zeros. */
export function wrapKey(
  roots: Roots,
  random: RandomBytes,
  account: string,
  key: Uint8Array,
): WrappedAccountKey {
  if (key.length !== keyBytes) throw new Error(`a key to wrap has ${keyBytes} bytes`)
  const kekVersion = roots.sealingVersion
  const nonce = random(nonceBytes)
  const ciphertext = useThenWipe(roots.kek(kekVersion), (kek) =>
    xchacha20poly1305(kek, nonce, wrapData(roots, account, kekVersion)).encrypt(key),
  )
  return { kekVersion, nonce: encodeBase64(nonce), ciphertext: encodeBase64(ciphertext) }
}

/** Returns the key, which the caller fills with zeros; throws unless it is this account's and intact. */
export function unwrapKey(roots: Roots, account: string, wrap: WrappedAccountKey): Uint8Array {
  const nonce = decodeBase64(wrap.nonce, nonceBytes)
  const ciphertext = decodeBase64(wrap.ciphertext, keyBytes + tagBytes)
  return useThenWipe(roots.kek(wrap.kekVersion), (kek) =>
    xchacha20poly1305(kek, nonce, wrapData(roots, account, wrap.kekVersion)).decrypt(ciphertext),
  )
}

/** Moves a key under the root that seals; returns the same object if it is there already. */
export function rewrapKey(
  roots: Roots,
  random: RandomBytes,
  account: string,
  wrap: WrappedAccountKey,
): WrappedAccountKey {
  if (wrap.kekVersion === roots.sealingVersion) return wrap
  return useThenWipe(unwrapKey(roots, account, wrap), (key) => {
    const moved = wrapKey(roots, random, account, key)
    // The new wrap replaces the only copy of a key, so it is opened before it does.
    const isSame = useThenWipe(unwrapKey(roots, account, moved), (again) =>
      again.every((byte, index) => byte === key[index]),
    )
    if (!isSame) throw new Error('a key was wrapped that does not come out as it went in')
    return moved
  })
}

/** Lends secret bytes to `use` and fills them with zeros when it returns or throws. */
export function useThenWipe<T>(secret: Uint8Array, use: (secret: Uint8Array) => T): T {
  try {
    return use(secret)
  } finally {
    secret.fill(0)
  }
}

function wrapData({ purpose }: Roots, account: string, kekVersion: number): Uint8Array {
  return encodeAssociatedData([purpose, 'wrap', account, String(kekVersion)])
}
