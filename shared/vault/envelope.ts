/**
 * Sealed records: the secret part of an entry of the vault, or a mail. Each has a key of its own, derived
 * from the account's key. Account, record, version, site and purpose are bound into it, so it opens only
 * where it was sealed for. It hides the length in steps, but not that there is a record.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as z from 'zod'
import { decodeBase64, encodeBase64 } from '../base64.ts'
import { encodeAssociatedData } from '../sealing/associated-data.ts'
import type { Roots } from '../sealing/roots.ts'
import {
  keyBytes,
  nonceBytes,
  unwrapKey,
  useThenWipe,
  type WrappedAccountKey,
} from '../sealing/wrap.ts'
import type { RandomBytes } from './keys.ts'
import { type PaddingRule, pad, unpad } from './padding.ts'

const shape = 1
const mailBytesMax = 10 * 1024 * 1024

/** Limits of a record's content, by purpose. */
const paddingRules: { vault: PaddingRule; mail: PaddingRule } = {
  vault: { lengthBytes: 2, contentBytesMax: 65_535 },
  mail: { lengthBytes: 4, contentBytesMax: mailBytesMax },
}

const schema = z.strictObject({
  /** Version of this shape and of its key derivation. */
  version: z.literal(shape),
  nonce: z.string().max(64),
  ciphertext: z.string().max(2 * mailBytesMax),
})

/** A sealed record: plain JSON, bytes in base64. */
export type SealedRecord = z.output<typeof schema>

/** Facts that a record is bound to. The site of a mail is the domain that it came from, or empty. */
export type RecordBinding = { account: string; record: string; version: number; site: string }

/** Roots and the account's key wrapped under them. Their purpose is that of the record. */
export type AccountKeys = { roots: Roots; wrap: WrappedAccountKey }

/** Reads a stored record; throws if it has another shape. */
export function readSealed(stored: unknown): SealedRecord {
  return schema.parse(stored)
}

/** Seals bytes for their place. Throws if they exceed 64 KB in the vault or 10 MB in a mail. */
export function sealRecord(
  keys: AccountKeys,
  random: RandomBytes,
  binding: RecordBinding,
  content: Uint8Array,
): SealedRecord {
  const padded = pad(content, paddingOf(keys.roots))
  const nonce = random(nonceBytes)
  const ciphertext = useThenWipe(padded, () =>
    withRecordKey(keys, binding, (key, data) =>
      xchacha20poly1305(key, nonce, data).encrypt(padded),
    ),
  )
  return { version: shape, nonce: encodeBase64(nonce), ciphertext: encodeBase64(ciphertext) }
}

/** Returns the bytes of a record; throws unless it was sealed for this place and is intact. */
export function openRecord(
  keys: AccountKeys,
  binding: RecordBinding,
  sealed: SealedRecord,
): Uint8Array {
  const nonce = decodeBase64(sealed.nonce, nonceBytes)
  const ciphertext = decodeBase64(sealed.ciphertext)
  const padded = withRecordKey(keys, binding, (key, data) =>
    xchacha20poly1305(key, nonce, data).decrypt(ciphertext),
  )
  return useThenWipe(padded, () => unpad(padded, paddingOf(keys.roots)))
}

function withRecordKey<T>(
  { roots, wrap }: AccountKeys,
  binding: RecordBinding,
  use: (key: Uint8Array, associatedData: Uint8Array) => T,
): T {
  const { purpose } = roots
  const { account, record, site } = binding
  const version = String(binding.version)
  const data = encodeAssociatedData([
    purpose,
    'record',
    account,
    record,
    version,
    site,
    String(shape),
  ])
  const info = utf8ToBytes(`${purpose}/record/${version}`)
  return useThenWipe(unwrapKey(roots, account, wrap), (accountKey) =>
    useThenWipe(hkdf(sha256, accountKey, utf8ToBytes(record), info, keyBytes), (key) =>
      use(key, data),
    ),
  )
}

function paddingOf({ purpose }: Roots): PaddingRule {
  if (purpose === 'custody') throw new Error('private keys are sealed by custody alone')
  return paddingRules[purpose]
}
