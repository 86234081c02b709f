/**
 * The secrets of one local world, made once and kept in a file that only its owner may read. Losing
 * the file means losing the wallets: no other copy of the custody root exists.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import * as z from 'zod'

/** An Ed25519 key pair as JWK (RFC 8037). */
const sessionKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string(),
  x: z.string(),
  d: z.string(),
})

const schema = z.object({
  service_key: z.string(),
  custody_key: z.string(),
  /** Version -> 32 bytes in base64. */
  custody_roots: z.record(z.string(), z.string()),
  api_key_pepper: z.string(),
  /** Secret value of the hashes of passwords. */
  password_pepper: z.string().default(newKey),
  /** Signs the sessions of the web app. */
  session_key: sessionKey.prefault(createSessionKey),
  /** Of the demo owner. */
  owner_password: z.string().default(newPassword),
  // Absent in worlds that are older than mail.
  outbox_key: z.string().default(newKey),
  /** An address that nobody has paid. */
  payee: z.string().regex(/^0x[0-9a-f]{40}$/),
  /** Keys of the demo owner by scope, because the database cannot tell them again. */
  api_keys: z.partialRecord(z.enum(['read', 'pay', 'full']), z.string()),
})

export type Secrets = z.output<typeof schema>

/** Reads the file; without one, makes secrets that are `fresh` and not kept anywhere yet. */
export function readSecrets(file: string): { secrets: Secrets; fresh: boolean } {
  if (existsSync(file)) {
    return { secrets: schema.parse(JSON.parse(readFileSync(file, 'utf8'))), fresh: false }
  }
  const secrets = {
    service_key: `service-${randomBytes(24).toString('hex')}`,
    custody_key: `custody-${randomBytes(24).toString('hex')}`,
    custody_roots: { 1: newKey() },
    api_key_pepper: newKey(),
    password_pepper: newKey(),
    session_key: createSessionKey(),
    owner_password: newPassword(),
    outbox_key: newKey(),
    payee: `0x${randomBytes(20).toString('hex')}`,
    api_keys: {},
  }
  return { secrets, fresh: true }
}

/** Writes JSON for the owner's eyes alone; a reader sees the old file or the new one, whole. */
export function writePrivate(file: string, content: unknown): void {
  const next = `${file}.next`
  writeFileSync(next, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(next, file)
}

function newKey(): string {
  return randomBytes(32).toString('base64')
}

function newPassword(): string {
  return `demo-${randomBytes(9).toString('base64url')}`
}

/** A new key for session tokens. */
export function createSessionKey(): z.output<typeof sessionKey> {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return sessionKey.parse({ ...jwk, kid: randomBytes(8).toString('hex') })
}

/** The key set that the services accept, which holds no secret. */
export function publicKeysOf({ d: _secret, ...key }: z.output<typeof sessionKey>): string {
  return JSON.stringify({ keys: [{ ...key, alg: 'EdDSA', use: 'sig' }] })
}
