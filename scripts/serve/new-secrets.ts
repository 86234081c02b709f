/** The secrets that a service makes itself, once. */
import { createECDH, randomBytes } from 'node:crypto'
import { createReceiptKeys, createSessionKeys, newDkimKey } from '../local/secrets.ts'

/** Files of secrets: of the database's owner, of custody and the vault alone, and of all other functions. */
export type SecretsName = 'owner' | 'custody' | 'vault' | 'app'

/** Secrets by the names of their bindings. */
export type SecretTexts = Record<string, string>

/** Makes the files by the function that opens them; all others share `app`. */
export function newFiles(): Readonly<Record<SecretsName, SecretTexts>> {
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

function newPassword(): string {
  return randomBytes(24).toString('base64url')
}

function newKey(): string {
  return randomBytes(32).toString('base64')
}

function newRoots(): string {
  return JSON.stringify({ 1: newKey() })
}
