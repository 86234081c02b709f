/** The values of the bindings of a deployment: those that all may see, and the secrets by name. */
import type { Texts } from '../serve/bindings.ts'
import type { SecretTexts } from '../serve/new-secrets.ts'
import type { Credentials, DeploySettings } from './settings.ts'
import type { DatabaseTokens } from './tokens.ts'

/** Halves of key pairs that are made with the secrets, and are none. */
const publicNames = ['SESSION_PUBLIC_KEYS', 'RECEIPT_PUBLIC_KEYS', 'VAPID_PUBLIC_KEY']

/** Returns the values that are not secret. Without secrets, as before the first run, public keys are missing. */
export function valuesFor(settings: DeploySettings, made: SecretTexts, publishable: string): Texts {
  const { baseUrl, project } = settings
  return {
    ...settings.vars,
    BASE_URL: baseUrl,
    WEB_URL: `${baseUrl}/web`,
    MAIL_DOMAIN: settings.mailDomain,
    NOTICE_DOMAIN: settings.noticeDomain,
    MAIL_URL: settings.mailUrl,
    SUPABASE_URL: `https://${project}.supabase.co`,
    SUPABASE_API_KEY: publishable,
    EUR_USD_RATE: settings.eurUsdRate,
    TURNSTILE_SITE_KEY: settings.turnstileSiteKey,
    // The worker that takes calls from Supabase exists only with this value.
    ...(settings.runsAtSupabase && {
      REMOTE_CALLS_PUBLIC_KEYS: made['REMOTE_CALLS_PUBLIC_KEYS'] ?? '{"keys":[]}',
    }),
    ...Object.fromEntries(publicNames.flatMap((name) => (made[name] ? [[name, made[name]]] : []))),
  }
}

/** Sources of the secrets. */
export type SecretSources = {
  settings: DeploySettings
  credentials: Pick<Credentials, 'mailToken' | 'turnstileSecret'>
  made: SecretTexts
  tokens: DatabaseTokens
}

/** Returns a function that gives a secret by its name, and throws for one that nobody has. */
export function secretsFor({ settings, credentials, made, tokens }: SecretSources) {
  const all: Texts = {
    ...made,
    SUPABASE_SERVICE_KEY: tokens.service_role,
    CUSTODY_DATABASE_KEY: tokens.custody,
    VAULT_DATABASE_KEY: tokens.vault,
    MAIL_TOKEN: credentials.mailToken,
    TURNSTILE_SECRET_KEY: credentials.turnstileSecret,
    CHAIN_RPC_URLS: JSON.stringify(settings.rpc),
  }
  return (name: string): string => {
    const value = all[name]
    if (value === undefined) throw new Error(`nothing gives a value for the secret ${name}`)
    return value
  }
}
