/**
 * Sealed records: the secret part of an entry of the vault, or a mail. Each has a key of its own,
 * derived from the account's, and opens at the place that it was sealed for and nowhere else:
 * account, record, version, site and purpose are bound into it. It hides the length in steps, not
 * that there is a record.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as z from 'zod'
import { decodeBase64, encodeBase64 } from '../base64.ts'
import { encodeAssociatedData } from '../sealing/associated-data.ts'
import type { Roots } from '../sealing/roots.ts'
import { keyBytes, nonceBytes, spend, unwrapKey, type Wrap } from '../sealing/wrap.ts'
import type { RandomBytes } from './keys.ts'
import { type PaddingRule, pad, unpad } from './padding.ts'

const shape = 1
const mailBytesMax = 10 * 1024 * 1024

/** What fits in a record, by its purpose. */
const paddingRules: { vault: PaddingRule; mail: PaddingRule } = {
  vault: { lengthBytes: 2, contentBytesMax: 65_535 },
  mail: { lengthBytes: 4, contentBytesMax: mailBytesMax },
}

const schema = z.strictObject({
  /** Version of this shape and of its derivation. */
  version: z.literal(shape),
  nonce: z.string().max(64),
  ciphertext: z.string().max(2 * mailBytesMax),
})

/** Plain JSON, bytes in base64. */
export type SealedRecord = z.output<typeof schema>

/** Where a record belongs. A mail has the domain that it came from, or nothing, for its site. */
export type Place = { account: string; record: string; version: number; site: string }

/** Roots and the account's wrapped key under them; its purpose is that of the record. */
export type AccountKeys = { roots: Roots; wrap: Wrap }

/** Reads a stored record; throws when it has another shape. */
export function readSealed(stored: unknown): SealedRecord {
  return schema.parse(stored)
}

/** Seals bytes for their place: 64 KB in the vault, 10 MB of a mail. Throws when they are more. */
export function sealRecord(
  keys: AccountKeys,
  random: RandomBytes,
  place: Place,
  content: Uint8Array,
): SealedRecord {
  const padded = pad(content, paddingOf(keys.roots))
  const nonce = random(nonceBytes)
  const ciphertext = spend(padded, () =>
    withRecordKey(keys, place, (key, data) => xchacha20poly1305(key, nonce, data).encrypt(padded)),
  )
  return { version: shape, nonce: encodeBase64(nonce), ciphertext: encodeBase64(ciphertext) }
}

/** The bytes of a record; throws unless it was sealed for this place and is untouched. */
export function openRecord(keys: AccountKeys, place: Place, sealed: SealedRecord): Uint8Array {
  const nonce = decodeBase64(sealed.nonce, nonceBytes)
  const ciphertext = decodeBase64(sealed.ciphertext)
  const padded = withRecordKey(keys, place, (key, data) =>
    xchacha20poly1305(key, nonce, data).decrypt(ciphertext),
  )
  return spend(padded, () => unpad(padded, paddingOf(keys.roots)))
}

function withRecordKey<T>(
  { roots, wrap }: AccountKeys,
  place: Place,
  use: (key: Uint8Array, associatedData: Uint8Array) => T,
): T {
  const { purpose } = roots
  const { account, record, site } = place
  const version = String(place.version)
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
  return spend(unwrapKey(roots, account, wrap), (accountKey) =>
    spend(hkdf(sha256, accountKey, utf8ToBytes(record), info, keyBytes), (key) => use(key, data)),
  )
}

function paddingOf({ purpose }: Roots): PaddingRule {
  if (purpose === 'custody') throw new Error('private keys are sealed by custody alone')
  return paddingRules[purpose]
}
