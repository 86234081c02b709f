/** The bindings of each function, from what its settings say that it needs. */
import type { FunctionSettings } from '../local/functions.ts'
import { clientHeader } from './host.ts'
import type { Settings } from './settings.ts'

/** Values by the names of their bindings. */
export type Texts = Readonly<Record<string, string>>

/** Variables that PostgREST and its front need, and no function here. */
const ofPostgrest = /^(SUPABASE_|CUSTODY_DATABASE_KEY$|VAULT_DATABASE_KEY$)/
/** Variables that may be missing: the function then says that it does not work. */
const mayBeMissing = [
  'MAIL_URL',
  'MAIL_TOKEN',
  'DKIM_PRIVATE_KEY',
  'INBOUND_MAIL_SECRET',
  'TURNSTILE_SECRET_KEY',
]

/** Returns the values of this service that are not secret. */
export function valuesOf(settings: Settings): Texts {
  return {
    ENVIRONMENT: 'production',
    BASE_URL: settings.baseUrl,
    WEB_URL: settings.webUrl,
    MAIL_DOMAIN: settings.mailDomain,
    NOTICE_DOMAIN: settings.noticeDomain,
    MAIL_RECEIVER: mailReceiverOf(settings),
    EUR_USD_RATE: settings.eurUsdRate,
    CLIENT_ADDRESS_HEADER: clientHeader,
    CHAIN_RPC_URLS: JSON.stringify(settings.rpc),
    ALLOW_LOOPBACK: 'false',
    ...(settings.turnstile && {
      TURNSTILE_SITE_KEY: settings.turnstile.siteKey,
      TURNSTILE_SECRET_KEY: settings.turnstile.secretKey,
    }),
    ...(settings.sandbox && { SANDBOX_PAY_TO: settings.sandbox.payTo }),
    ...(settings.sandbox?.facilitatorUrl !== undefined && {
      SANDBOX_FACILITATOR_URL: settings.sandbox.facilitatorUrl,
    }),
    ...(settings.mail && { MAIL_URL: settings.mail.url, MAIL_TOKEN: settings.mail.token }),
  }
}

/** Returns the name of this mail server in the headers that it writes. */
export function mailReceiverOf({ mailDomain }: Settings): string {
  return `mx.${mailDomain}`
}

/** Returns what one function is given as text. Throws for a variable that nobody provides. */
export function textsOf({ folder, vars, secrets }: FunctionSettings, given: Texts): Texts {
  const found: Record<string, string> = {}
  for (const name of [...Object.keys(vars), ...secrets]) {
    if (ofPostgrest.test(name)) continue
    // A provider that nobody chose must not be the one that stands in functions.toml as an example.
    const value = given[name] ?? (mayBeMissing.includes(name) ? undefined : vars[name])
    if (value !== undefined) found[name] = value
    else if (!mayBeMissing.includes(name)) throw new Error(`${folder} needs ${name}`)
  }
  return found
}

/**
 * Hosts that may be reached although they may not be public: those that the operator has named, and this service if it
 * has a sandbox.
 */
export function hostsOf({ rpc, mail, alarmUrl, sandbox, baseUrl }: Settings): string[] {
  const ofSandbox = sandbox ? [sandbox.facilitatorUrl, baseUrl] : []
  const named = [...Object.values(rpc).flat(), mail?.url, alarmUrl, ...ofSandbox]
  return named.flatMap((url) => (url === undefined ? [] : [new URL(url).host]))
}
