/** The bindings of the functions of the local world. */
import { createECDH, createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import type { Chain } from './chain.ts'
import { databaseBindings } from './database-keys.ts'
import type { Ports } from './process/ports.ts'
import { projectOfSecrets, type Secrets } from './secrets.ts'

/** Domain of the accounts' mail addresses. */
export const mailDomain = 'agents.example'
const noticeDomain = 'notices.example'
const dkimSelector = 'local'
const eurUsdRate = '1.10'

/** Returns where receivers find the key that signs mail of the local world, under each domain. */
export function dkimRecordOf({ dkim_private_key: key }: Pick<Secrets, 'dkim_private_key'>) {
  const pkcs8 = createPrivateKey({ key, format: 'der', encoding: 'base64', type: 'pkcs8' })
  const spki = createPublicKey(pkcs8).export({ type: 'spki', format: 'der' })
  const public_key = `v=DKIM1; k=rsa; p=${spki.toString('base64')}`
  return { domains: [mailDomain, noticeDomain], selector: dkimSelector, public_key }
}

/** Returns the keys of pushes, which follow from another secret of the local world. */
export function pushKeysOf({ outbox_key }: Pick<Secrets, 'outbox_key'>) {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(createHash('sha256').update(`push ${outbox_key}`).digest())
  return {
    VAPID_PUBLIC_KEY: pair.getPublicKey('base64url'),
    VAPID_PRIVATE_KEY: pair.getPrivateKey('base64url'),
  }
}

/** Returns a value for every var and secret that a function may name, except those that others provide. */
export function bindingsOf(
  { ports, secrets }: { ports: Pick<Ports, 'functions' | 'gateway'>; secrets: Secrets },
  chains: readonly Pick<Chain, 'network' | 'rpcUrl'>[],
) {
  return {
    ENVIRONMENT: 'local',
    ALLOW_LOOPBACK: 'true',
    BASE_URL: `http://127.0.0.1:${ports.functions}`,
    WEB_URL: `http://localhost:${ports.functions}/web`,
    MAIL_DOMAIN: mailDomain,
    EUR_USD_RATE: eurUsdRate,
    // Gas on a local chain costs a gwei, which would be expensive on the rollups that it stands for.
    GAS_USD_MAX: '{"*":"100","eip155:1":"100"}',
    NATIVE_USD_RATES: '{}',
    SUPABASE_URL: `http://127.0.0.1:${ports.gateway}`,
    CHAIN_RPC_URLS: JSON.stringify(
      Object.fromEntries(chains.map(({ network, rpcUrl }) => [network, [rpcUrl]])),
    ),
    ...databaseBindings(projectOfSecrets(secrets)),
    CUSTODY_ROOT_KEYS: JSON.stringify(secrets.custody_roots),
    VAULT_ROOT_KEYS: JSON.stringify(secrets.vault_roots),
    INBOUND_MAIL_SECRET: secrets.inbound_mail_secret,
    MAIL_RECEIVER: `mx.${mailDomain}`,
    API_KEY_PEPPER: secrets.api_key_pepper,
    PASSWORD_PEPPER: secrets.password_pepper,
    SESSION_PRIVATE_KEY: secrets.session_private_key,
    SESSION_PUBLIC_KEYS: secrets.session_public_keys,
    RECEIPT_PRIVATE_KEY: secrets.receipt_keys.private_key,
    RECEIPT_PUBLIC_KEYS: secrets.receipt_keys.public_keys,
    DKIM_PRIVATE_KEY: secrets.dkim_private_key,
    DKIM_SELECTOR: dkimSelector,
    OTP_PEPPER: secrets.otp_pepper,
    OUTBOX_KEY: secrets.outbox_key,
    NOTICE_DOMAIN: noticeDomain,
    ...pushKeysOf(secrets),
    // Sign-up has no challenge here, because its site key is empty.
    TURNSTILE_SECRET_KEY: 'none',
    // The local mail server asks for no password.
    MAIL_TOKEN: 'none',
  }
}
