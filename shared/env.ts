/**
 * The one schema of bindings and secrets. A function gets only the secrets that it needs, so most are
 * optional here. Asking for a secret that is not bound throws with its name.
 */
import * as z from 'zod'

const flag = z.enum(['true', 'false'])

const schema = z.object({
  /** Loopback addresses may be allowed in `local` only. */
  ENVIRONMENT: z.enum(['production', 'staging', 'local']).default('production'),
  BASE_URL: z.url(),
  /** Base URL of the owner's pages; its host name is the relying party of passkeys. */
  WEB_URL: z.url(),
  MAIL_DOMAIN: z.string().min(1),
  /** Address of the database's REST interface; absent where a host binds DATABASE instead. */
  SUPABASE_URL: z.url().optional(),
  /** API key of the project, which its gateway asks of every request; it grants nothing by itself. */
  SUPABASE_API_KEY: z.string().min(1).optional(),
  /** Token (JWT) of the database role of functions; custody and the vault have their own. */
  SUPABASE_SERVICE_KEY: z.string().min(1).optional(),
  CUSTODY_DATABASE_KEY: z.string().min(1).optional(),
  /**
   * JSON: version -> 32 bytes in base64. All open; `sealing` names the sealing one, else the highest. Or that text as a
   * KMS sealed it (kms.ts).
   */
  CUSTODY_ROOT_KEYS: z.string().optional(),
  VAULT_DATABASE_KEY: z.string().min(1).optional(),
  /** Root keys of vault entries and mails, in the form of CUSTODY_ROOT_KEYS. */
  VAULT_ROOT_KEYS: z.string().optional(),
  /** Secret of the webhook, for a mail server that is not the platform's own. */
  INBOUND_MAIL_SECRET: z.string().min(16).optional(),
  /** The authserv-id (RFC 8601 section 2.5) of the server that receives mail. */
  MAIL_RECEIVER: z.string().min(1).optional(),
  /** PKCS#8 key in base64, RSA or Ed25519, that signs mail of MAIL_DOMAIN and NOTICE_DOMAIN. */
  DKIM_PRIVATE_KEY: z.string().min(1).optional(),
  /** DNS selector of the public key; if empty, mail is not signed. */
  DKIM_SELECTOR: z
    .string()
    .regex(/^[a-z0-9-]{0,63}$/)
    .default(''),
  API_KEY_PEPPER: z.string().min(16).optional(),
  PASSWORD_PEPPER: z.string().min(16).optional(),
  /** JWK (RFC 8037) that signs session tokens; only the web app has it. */
  SESSION_PRIVATE_KEY: z.string().min(1).optional(),
  /** JWKS of the keys, by kid, whose session tokens are accepted; only the web app reads it. */
  SESSION_PUBLIC_KEYS: z.string().default('{"keys":[]}'),
  /** ES256 JWK that signs consent receipts. */
  RECEIPT_PRIVATE_KEY: z.string().min(1).optional(),
  /** JWKS of all keys that have signed receipts, including the current one. */
  RECEIPT_PUBLIC_KEYS: z.string().default('{"keys":[]}'),
  /** Key of the HMAC under which sign-up codes are stored. */
  OTP_PEPPER: z.string().min(16).optional(),
  /** 32 bytes in base64: the key that seals mails until they are sent. */
  OUTBOX_KEY: z.string().optional(),
  /** Address of the mail provider: https://provider/emails, or smtps://user@host for SMTP. */
  MAIL_URL: z.url().optional(),
  /** Token of the provider, or password of the SMTP user. */
  MAIL_TOKEN: z.string().min(1).optional(),
  /** Public key of pushes to browsers (RFC 8292), base64url; if empty, no browser is offered them. */
  VAPID_PUBLIC_KEY: z
    .string()
    .regex(/^([A-Za-z0-9_-]{87})?$/)
    .default(''),
  /** Its private key, 32 bytes in base64url. */
  VAPID_PRIVATE_KEY: z.string().optional(),
  /** Public key of Cloudflare Turnstile; if empty, sign-up has no challenge. */
  TURNSTILE_SITE_KEY: z
    .string()
    .regex(/^[0-9A-Za-z_-]*$/)
    .default(''),
  /** Its secret; only the web app has it. */
  TURNSTILE_SECRET_KEY: z.string().min(1).optional(),
  /** Domain that notices are sent from; no agent has an address there. */
  NOTICE_DOMAIN: z.string().min(1).optional(),
  /** JSON: CAIP-2 id -> RPC endpoints, preferred first; use two of different providers. */
  CHAIN_RPC_URLS: z.string().default('{}'),
  /** JSON: origins to which pages of hosted actions may link back. */
  RETURN_URL_ORIGINS: z.string().default('[]'),
  /** Operator's project id at the WalletConnect relay; if empty, no page offers WalletConnect. */
  WALLETCONNECT_PROJECT_ID: z
    .string()
    .regex(/^[0-9a-zA-Z-]*$/)
    .optional(),
  /** JWK (RFC 8037) that signs calls to the functions of another platform; only functions at Supabase have it. */
  REMOTE_CALLS_PRIVATE_KEY: z.string().min(1).optional(),
  /** JWKS of the keys whose calls are taken. */
  REMOTE_CALLS_PUBLIC_KEYS: z.string().default('{"keys":[]}'),
  WALLETCONNECT_RELAY_URL: z.url().default('wss://relay.walletconnect.org'),
  /** `false`: clients are not told to use documents, and register instead. */
  OAUTH_CLIENT_DOCUMENTS: flag.optional(),
  /** JSON: CAIP-2 id -> gate and ERC-4626 vaults over USDC that accounts may use. */
  YIELD_VAULTS: z.string().default('{}'),
  /** Address that the sandbox is paid to; if empty, there is no sandbox. */
  SANDBOX_PAY_TO: z
    .custom<'' | `0x${string}`>((value) => /^(0x[0-9a-fA-F]{40})?$/.test(String(value)))
    .default(''),
  /** Facilitator that verifies and settles what the sandbox sells. */
  SANDBOX_FACILITATOR_URL: z.url().optional(),
  /** USD per EUR as a decimal string; without it EURC has no USD value and cannot be paid. */
  EUR_USD_RATE: z.string().optional(),
  /** JSON: CAIP-2 id, or `*` for every other chain -> maximum USD for the gas of one call. */
  GAS_USD_MAX: z.string().default('{}'),
  /** JSON: native coin -> USD, rather too high than too low; used for GAS_USD_MAX only. */
  NATIVE_USD_RATES: z.string().default('{}'),
  /** Header in which the platform, or a proxy of its own in front of all functions, names the client. */
  CLIENT_ADDRESS_HEADER: z
    .string()
    .regex(/^[a-z0-9-]*$/)
    .default(''),
  ALLOW_LOOPBACK: flag.default('false'),
})

/** Ethereum itself normally costs more than its rollups. */
const gasUsdMaxDefaults = { '*': '2', 'eip155:1': '20' }
const nativeUsdDefaults = { ETH: '5000', POL: '1', AVAX: '60' }
const usdTexts = z.record(z.string(), z.string().regex(/^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$/))

const origins = z.array(z.url().refine((url) => new URL(url).origin === url, 'not an origin'))
const endpoints = z.record(z.string().regex(/^eip155:[1-9][0-9]*$/), z.array(z.url()).min(1))

/** Settings of one function: JSON settings parsed, secrets absent if not bound. */
export type Config = Omit<
  z.output<typeof schema>,
  'CHAIN_RPC_URLS' | 'RETURN_URL_ORIGINS' | 'GAS_USD_MAX' | 'NATIVE_USD_RATES' | 'ALLOW_LOOPBACK'
> & {
  returnUrlOrigins: readonly string[]
  chainRpcUrls: Readonly<Record<string, readonly string[]>>
  /** Maximum by CAIP-2 id; `*` for every other chain. */
  gasUsdMax: Readonly<Record<string, string>>
  /** Rate by symbol of the coin. */
  nativeUsdRates: Readonly<Record<string, string>>
  allowLoopback: boolean
}

/** Parses bindings into a Config; throws with the names of missing or wrong settings. */
export function readConfig(bindings: unknown): Config {
  const { CHAIN_RPC_URLS, RETURN_URL_ORIGINS, GAS_USD_MAX, NATIVE_USD_RATES, ...parsed } =
    schema.parse(bindings)
  const { ALLOW_LOOPBACK, ...rest } = parsed
  const allowLoopback = ALLOW_LOOPBACK === 'true'
  // A service for its own machine alone has no certificate.
  const isPlain = /http:..(?!127|localhost)/.test(rest.BASE_URL + rest.WEB_URL)
  if ((allowLoopback || isPlain) && rest.ENVIRONMENT !== 'local') {
    throw new Error('ALLOW_LOOPBACK and http: are for ENVIRONMENT=local only')
  }
  // An agent's mail would pass for a notice, with the signature of the notices' domain.
  if (rest.NOTICE_DOMAIN?.toLowerCase() === rest.MAIL_DOMAIN.toLowerCase()) {
    throw new Error(
      'NOTICE_DOMAIN is the domain of agents, MAIL_DOMAIN; give notices one of their own',
    )
  }
  return {
    ...rest,
    chainRpcUrls: endpoints.parse(JSON.parse(CHAIN_RPC_URLS)),
    gasUsdMax: { ...gasUsdMaxDefaults, ...usdTexts.parse(JSON.parse(GAS_USD_MAX)) },
    nativeUsdRates: { ...nativeUsdDefaults, ...usdTexts.parse(JSON.parse(NATIVE_USD_RATES)) },
    returnUrlOrigins: origins.parse(JSON.parse(RETURN_URL_ORIGINS)),
    allowLoopback,
  }
}

/** Returns a setting that this function cannot work without; throws if it is not bound. */
export function required<Name extends keyof Config>(
  config: Config,
  name: Name,
): NonNullable<Config[Name]> {
  const value = config[name]
  if (value === undefined || value === null) throw new Error(`${String(name)} is not bound`)
  return value
}

type Replaceable = 'PASSWORD_PEPPER' | 'OTP_PEPPER' | 'OUTBOX_KEY'

/**
 * Returns the values of a secret. While it is replaced these are two, bound as `one other`, neither under
 * 16 characters or with spaces: the first is used for what is made, and both for what is read. Throws if there is
 * white space in another place, because everything would then be made under a value that nobody meant.
 */
export function secretValues(config: Config, name: Replaceable): readonly [string, ...string[]] {
  const text = required(config, name)
  const [, one, other] = /^(\S{16,}) (\S{16,})$/.exec(text) ?? []
  if (one !== undefined && other !== undefined) return [one, other]
  if (!/\s/.test(text)) return [text]
  throw new Error(
    `${name} has to be one value, or two of 16 characters or more with a space between`,
  )
}
