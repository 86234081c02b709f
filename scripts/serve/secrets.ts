/**
 * The secrets of a service, made at its first start. Custody and the vault have files of their own, which
 * their processes alone open; losing those means losing wallets, logins and mails.
 */
import { createECDH, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { newDkimKey, writePrivate } from '../local/secrets.ts'
import { createReceiptKeys, createSessionKeys } from '../local/session-keys.ts'

const texts = z.record(z.string(), z.string())
type Texts = z.output<typeof texts>

/** Makes the files by the function that opens them; all others share `app`. */
function newFiles(): Readonly<Record<SecretsName, Texts>> {
  const session = createSessionKeys()
  const receipt = createReceiptKeys()
  const push = createECDH('prime256v1')
  push.generateKeys()
  // The vault seals mails that the mailer opens.
  const outbox = newKey()
  return {
    owner: { DATABASE_PASSWORD: newPassword() },
    custody: { DATABASE_PASSWORD: newPassword(), CUSTODY_ROOT_KEYS: newRoots() },
    vault: {
      DATABASE_PASSWORD: newPassword(),
      VAULT_ROOT_KEYS: newRoots(),
      OUTBOX_KEY: outbox,
    },
    app: {
      DATABASE_PASSWORD: newPassword(),
      API_KEY_PEPPER: newKey(),
      PASSWORD_PEPPER: newKey(),
      OTP_PEPPER: newKey(),
      OUTBOX_KEY: outbox,
      INBOUND_MAIL_SECRET: newKey(),
      DKIM_PRIVATE_KEY: newDkimKey(),
      SESSION_PRIVATE_KEY: session.privateKey,
      SESSION_PUBLIC_KEYS: session.publicKeys,
      RECEIPT_PRIVATE_KEY: receipt.privateKey,
      RECEIPT_PUBLIC_KEYS: receipt.publicKeys,
      VAPID_PUBLIC_KEY: push.getPublicKey('base64url'),
      STATUS_TOKEN: newPassword(),
      VAPID_PRIVATE_KEY: push.getPrivateKey('base64url'),
    },
  }
}

/** Makes the secrets unless there are some. Returns true if it did; a start that was killed leaves none. */
export function makeSecrets(directory: string): boolean {
  const folder = folderIn(directory)
  if (existsSync(folder)) return false
  const next = `${folder}.new`
  rmSync(next, { recursive: true, force: true })
  mkdirSync(next, { recursive: true, mode: 0o700 })
  for (const [name, secrets] of Object.entries(newFiles())) {
    writePrivate(join(next, `${name}.json`), secrets)
  }
  renameSync(next, folder)
  return true
}

/** Files of secrets: of the database's owner, of custody and the vault alone, and of all other functions. */
export type SecretsName = 'owner' | 'custody' | 'vault' | 'app'

/** Reads one of the files. */
export function readSecrets(directory: string, name: SecretsName): Texts {
  return texts.parse(JSON.parse(readFileSync(join(folderIn(directory), `${name}.json`), 'utf8')))
}

/** Folder that has to be backed up. */
export function folderIn(directory: string): string {
  return join(directory, 'secrets')
}

function newPassword(): string {
  return randomBytes(24).toString('base64url')
}

function newKey(): string {
  return randomBytes(32).toString('base64')
}

function newRoots(): string {
  return JSON.stringify({ 1: newKey() })
}
