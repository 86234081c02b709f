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
  wrapKey,
} from '../sealing/wrap.ts'

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

/** Source of unpredictable bytes, such as `World.randomBytes`. */
export type RandomBytes = (length: number) => Uint8Array

/** Generates the key of an account and wraps it. `rewrapKey` moves it to a later version of the root. */
export function newAccountKey(
  roots: Roots,
  random: RandomBytes,
  account: string,
): WrappedAccountKey {
  return useThenWipe(random(keyBytes), (key) => wrapKey(roots, random, account, key))
}

/** Returns the stored key of an account or, if there is none, a new one that the caller must store. */
export function keyOrNew(
  roots: Roots,
  random: RandomBytes,
  account: string,
  stored: WrappedAccountKey | null,
): { wrap: WrappedAccountKey; newWrap: WrappedAccountKey | null } {
  if (stored) return { wrap: stored, newWrap: null }
  const newWrap = newAccountKey(roots, random, account)
  return { wrap: newWrap, newWrap }
}

/**
 * Padding that hides the length of a secret: 256 bytes, then multiples of 1 KB. The length comes first, and
 * zeros follow the content. Unpadding accepts nothing else.
 */
const smallestBytes = 256
const stepBytes = 1024

/** Number of bytes of the length in front, and the most bytes that the content may have. */
type PaddingRule = { lengthBytes: 2 | 4; contentBytesMax: number }

/** Pads the content; throws if it is longer than the rule allows. */
export function pad(content: Uint8Array, rule: PaddingRule): Uint8Array {
  if (content.length > rule.contentBytesMax) throw new Error('the content is too long to be sealed')
  const full = rule.lengthBytes + content.length
  const padded = new Uint8Array(
    full <= smallestBytes ? smallestBytes : Math.ceil(full / stepBytes) * stepBytes,
  )
  const view = new DataView(padded.buffer)
  if (rule.lengthBytes === 2) view.setUint16(0, content.length)
  else view.setUint32(0, content.length)
  padded.set(content, rule.lengthBytes)
  return padded
}

/** Returns the content; throws unless `pad` made these bytes from it. */
export function unpad(padded: Uint8Array, rule: PaddingRule): Uint8Array {
  const view = new DataView(padded.buffer, padded.byteOffset, padded.byteLength)
  const length = rule.lengthBytes === 2 ? view.getUint16(0) : view.getUint32(0)
  const content = padded.slice(rule.lengthBytes, rule.lengthBytes + length)
  const again = pad(content, rule)
  if (again.length !== padded.length || again.some((byte, at) => byte !== padded[at])) {
    throw new Error('the padding of a sealed record is not ours')
  }
  return content
}
