/**
 * Accounts of custody: creates their EVM keys from the world's randomness, seals them in envelopes, opens them to
 * sign, and closes none.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Address, bytesToBigInt, bytesToHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import * as z from 'zod'
import { decodeBase64, encodeBase64 } from '../base64.ts'
import { unbound } from '../db/database.ts'
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
import type { World } from '../world.ts'
import type { OpenAccountAnswer, OpenAccountRequest } from './port.ts'

/** Source of randomness, as World has it. */
type RandomBytes = (length: number) => Uint8Array

/** Private key of 32 bytes, to be filled with zeros after use, and its EIP-55 checksummed address. */
export type AccountKey = { address: Address; privateKey: Uint8Array }

/** Order of the curve; a private key is from 1 to this less 1 (SEC 2 version 2, section 2.4.1). */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

// A draw misses with a chance of 2^-128, so a second miss means that the randomness is broken.
const drawsMax = 2

/** Draws a new account. */
export function createAccountKey(random: RandomBytes): AccountKey {
  for (let draw = 0; draw < drawsMax; draw += 1) {
    const privateKey = random(32)
    if (isPrivateKey(privateKey)) return { address: addressOfKey(privateKey), privateKey }
  }
  throw new Error('the random source gave no private key')
}

/** Returns the checksummed address of a private key. Throws if the bytes are not one. */
export function addressOfKey(privateKey: Uint8Array): Address {
  if (!isPrivateKey(privateKey)) throw new Error('not a secp256k1 private key')
  return privateKeyToAddress(bytesToHex(privateKey))
}

function isPrivateKey(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false
  const scalar = bytesToBigInt(bytes)
  return scalar > 0n && scalar < curveOrder
}

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
  if (addressOfKey(privateKey).toLowerCase() !== binding.address.toLowerCase()) {
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

const digest = z.string().regex(/^[0-9a-f]{64}$/)

const openAccountRequest = z.strictObject({
  linkDigest: digest,
  alias: z.string().max(32),
  passwordHash: z.string().max(256),
  apiKey: z.strictObject({ digest, shown: z.string().max(32) }),
  session: z
    .strictObject({
      digest,
      user_agent: z.string().max(256),
      client: z.string().max(64),
      browser: digest.nullable(),
    })
    .optional(),
})

const answerRow = z.object({
  outcome: z.enum(['opened', 'link_closed', 'alias_taken', 'address_known']),
})

/** Uses a link once. Every outcome but `opened` leaves everything unchanged. */
export async function createCustodyAccount(
  world: World,
  roots: Roots,
  request: OpenAccountRequest,
): Promise<OpenAccountAnswer> {
  const { linkDigest, alias, passwordHash, apiKey, session } = openAccountRequest.parse(request)
  const account = world.newId()
  const random = (length: number) => world.randomBytes(length)
  const { address, privateKey } = createAccountKey(random)
  const envelope = sealKey(roots, random, { account, address }, privateKey)
  privateKey.fill(0)
  const question = {
    link_digest: linkDigest,
    opened: account,
    alias,
    address,
    envelope,
    password_hash: passwordHash,
    api_key: apiKey,
    session: session ?? null,
  }
  const row = await unbound(world.db).one('custody_open_account', question, answerRow)
  if (!row) throw new Error('custody_open_account answered no row')
  return row.outcome === 'opened'
    ? { outcome: 'opened', account, address }
    : { outcome: row.outcome }
}
