/**
 * The secrets of one local world, made once and kept in a file that only its owner may read. Losing the
 * file means losing the wallets, because no other copy of the custody root exists.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import { writeWhole } from '../program/write-whole.ts'
import { createApiKey, createSigningKey, type Project, projectOf } from './database-keys.ts'

/** Version -> 32 bytes in base64; `sealing` names the version that seals until all know a new one. */
const roots = z.record(z.string(), z.union([z.string(), z.int()]))

const schema = z.object({
  /** Key that the front of the database requires, and the JWK that signs the tokens of functions. */
  database_api_key: z.string().default(createApiKey),
  database_signing_key: z.string().default(() => createSigningKey()),
  custody_roots: roots,
  // Missing in worlds that are older than the vault.
  vault_roots: roots.default(() => ({ 1: newKey() })),
  inbound_mail_secret: z.string().default(newKey),
  /** PKCS#8 in base64. */
  dkim_private_key: z.string().default(newDkimKey),
  api_key_pepper: z.string(),
  password_pepper: z.string(),
  /** JWK and JWKS as text, as the functions' bindings take them. */
  session_private_key: z.string(),
  session_public_keys: z.string(),
  /** Password of the demo owner. */
  owner_password: z.string(),
  // Missing in worlds that are older than onboarding and mail.
  otp_pepper: z.string().default(newKey),
  outbox_key: z.string().default(newKey),
  /** JWK and JWKS as text; missing in worlds that are older than consent receipts. */
  receipt_keys: z
    .object({ private_key: z.string(), public_keys: z.string() })
    .default(newReceiptKeys),
  /** Address that has never been paid. */
  payee: z.string().regex(/^0x[0-9a-f]{40}$/),
  /** Keys of the demo owner by scope, kept because the database stores digests only. */
  api_keys: z.partialRecord(z.enum(['read', 'pay', 'full']), z.string()),
})

/** Secrets of one local world. */
export type Secrets = z.output<typeof schema>

/** Reads the file. If there is none, makes secrets that are `fresh` and not yet stored anywhere. */
export function readSecrets(file: string): { secrets: Secrets; fresh: boolean } {
  if (existsSync(file)) {
    const secrets = schema.parse(JSON.parse(readFileSync(file, 'utf8')))
    // All functions start at once, so each of them then knows every root and the newest may seal.
    delete secrets.vault_roots['sealing']
    delete secrets.custody_roots['sealing']
    return { secrets, fresh: false }
  }
  return { secrets: drawSecrets(), fresh: true }
}

/** Draws the secrets of a new local world. */
export function drawSecrets(): Secrets {
  const { privateKey, publicKeys } = createSessionKeys()
  return {
    database_api_key: createApiKey(),
    database_signing_key: createSigningKey(),
    custody_roots: { 1: newKey() },
    vault_roots: { 1: newKey() },
    inbound_mail_secret: newKey(),
    dkim_private_key: newDkimKey(),
    api_key_pepper: newKey(),
    password_pepper: newKey(),
    session_private_key: privateKey,
    session_public_keys: publicKeys,
    owner_password: `demo-${randomBytes(9).toString('base64url')}`,
    otp_pepper: newKey(),
    outbox_key: newKey(),
    receipt_keys: newReceiptKeys(),
    payee: `0x${randomBytes(20).toString('hex')}`,
    api_keys: {},
  }
}

/** Returns the project that the database of this world is reached by. */
export function projectOfSecrets(
  secrets: Pick<Secrets, 'database_api_key' | 'database_signing_key'>,
): Project {
  const { database_api_key: apiKey, database_signing_key: signingKey } = secrets
  return projectOf({ apiKey, signingKey })
}

/** Writes JSON that only the owner may read. A reader sees either the old file or the new one, whole. */
export function writePrivate(file: string, content: unknown): void {
  writeWhole(file, `${JSON.stringify(content, null, 2)}\n`, 0o600)
}

function newReceiptKeys() {
  const { privateKey, publicKeys } = createReceiptKeys()
  return { private_key: privateKey, public_keys: publicKeys }
}

/** Makes an RSA key for DKIM, which every receiver of mail supports. */
export function newDkimKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
}

function newKey(): string {
  return randomBytes(32).toString('base64')
}

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
