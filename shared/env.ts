/**
 * The one schema over bindings and secrets. A function is given only the secrets that it needs, so
 * most are optional here; asking for one that was not bound fails with its name.
 */
import * as z from 'zod'

const flag = z.enum(['true', 'false']).default('false')

const schema = z.object({
  /** `local` is the only environment in which loopback addresses may be allowed. */
  ENVIRONMENT: z.enum(['production', 'staging', 'local']).default('production'),
  BASE_URL: z.url(),
  /** Where the owner's pages are; its host name is the relying party of passkeys. */
  WEB_URL: z.url(),
  MAIL_DOMAIN: z.string().min(1),
  SUPABASE_URL: z.url(),
  /** Key of the project that its front asks every request for; it opens nothing by itself. */
  SUPABASE_API_KEY: z.string().min(1),
  /** Token (JWT) of the role that functions have; custody and the vault have one of their own. */
  SUPABASE_SERVICE_KEY: z.string().min(1).optional(),
  CUSTODY_DATABASE_KEY: z.string().min(1).optional(),
  /** Version -> 32 bytes in base64; all open. `sealing` names the one that seals, else the highest. */
  CUSTODY_ROOT_KEYS: z.string().optional(),
  VAULT_DATABASE_KEY: z.string().min(1).optional(),
  /** Of entries and mails, in the form of CUSTODY_ROOT_KEYS. */
  VAULT_ROOT_KEYS: z.string().optional(),
  /** Authenticates the webhook of a mail server that is not the platform's own. */
  INBOUND_MAIL_SECRET: z.string().min(16).optional(),
  /** The authserv-id (RFC 8601 section 2.5) of the server that mail is received by. */
  MAIL_RECEIVER: z.string().min(1).optional(),
  /** PKCS#8 in base64, RSA or Ed25519, that signs mail of MAIL_DOMAIN and NOTICE_DOMAIN. */
  DKIM_PRIVATE_KEY: z.string().min(1).optional(),
  /** Where its public half is in the DNS; while it is empty, nothing is signed. */
  DKIM_SELECTOR: z
    .string()
    .regex(/^[a-z0-9-]{0,63}$/)
    .default(''),
  API_KEY_PEPPER: z.string().min(16).optional(),
  PASSWORD_PEPPER: z.string().min(16).optional(),
  /** JWK (RFC 8037) that signs session tokens; only the web app has it. */
  SESSION_PRIVATE_KEY: z.string().min(1).optional(),
  /** JWKS of the keys whose session tokens are good, by kid; only the web app reads one. */
  SESSION_PUBLIC_KEYS: z.string().default('{"keys":[]}'),
  /** ES256 JWK that signs consent receipts. */
  RECEIPT_PRIVATE_KEY: z.string().min(1).optional(),
  /** JWKS of the keys that receipts were signed with, the present one among them. */
  RECEIPT_PUBLIC_KEYS: z.string().default('{"keys":[]}'),
  /** Keys the HMAC under which sign-up codes are stored. */
  OTP_PEPPER: z.string().min(16).optional(),
  /** 32 bytes in base64, under which mails are sealed until they are sent. */
  OUTBOX_KEY: z.string().optional(),
  /** Where mail leaves: https://provider/emails, or smtps://user@host for SMTP. */
  MAIL_URL: z.url().optional(),
  /** The provider's token, or the password of the SMTP user. */
  MAIL_TOKEN: z.string().min(1).optional(),
  /** The domain that notices come from; no agent has an address there. */
  NOTICE_DOMAIN: z.string().min(1).optional(),
  /** JSON: CAIP-2 id -> RPC endpoints, first preferred; two of different providers are best. */
  CHAIN_RPC_URLS: z.string().default('{}'),
  /** JSON: origins to which pages of hosted actions may link back. */
  RETURN_URL_ORIGINS: z.string().default('[]'),
  /** Of an operator with the WalletConnect relay; while it is empty, no page offers WalletConnect. */
  WALLETCONNECT_PROJECT_ID: z
    .string()
    .regex(/^[0-9a-zA-Z-]*$/)
    .optional(),
  WALLETCONNECT_RELAY_URL: z.url().default('wss://relay.walletconnect.org'),
  /** USD per EUR as a decimal string; without it EURC has no USD value and is not paid with. */
  EUR_USD_RATE: z.string().optional(),
  /** JSON: CAIP-2 id, or `*` for every other chain -> most USD that gas for one call may cost. */
  GAS_USD_MAX: z.string().default('{}'),
  /** JSON: native coin -> USD, rather too much than too little, for GAS_USD_MAX alone. */
  NATIVE_USD_RATES: z.string().default('{}'),
  /** The header in which the platform, or a proxy of its own before all functions, names the client. */
  CLIENT_ADDRESS_HEADER: z
    .string()
    .regex(/^[a-z0-9-]*$/)
    .default(''),
  ALLOW_LOOPBACK: flag,
})

/** Ethereum itself is dearer than its rollups at ordinary times. */
const gasUsdMaxDefaults = { '*': '2', 'eip155:1': '20' }
const nativeUsdDefaults = { ETH: '5000', POL: '1', AVAX: '60' }
const usdTexts = z.record(z.string(), z.string().regex(/^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$/))

const origins = z.array(z.url().refine((url) => new URL(url).origin === url, 'not an origin'))
const endpoints = z.record(z.string().regex(/^eip155:[1-9][0-9]*$/), z.array(z.url()).min(1))

/** The settings of one function; endpoints are parsed, and secrets absent where not bound. */
export type Config = Omit<
  z.output<typeof schema>,
  'CHAIN_RPC_URLS' | 'RETURN_URL_ORIGINS' | 'GAS_USD_MAX' | 'NATIVE_USD_RATES' | 'ALLOW_LOOPBACK'
> & {
  returnUrlOrigins: readonly string[]
  chainRpcUrls: Readonly<Record<string, readonly string[]>>
  /** By CAIP-2 id; `*` for every other chain. */
  gasUsdMax: Readonly<Record<string, string>>
  /** By the symbol of the coin. */
  nativeUsdRates: Readonly<Record<string, string>>
  allowLoopback: boolean
}

/** Reads bindings into a Config; throws with the names of what is missing or wrong. */
export function readConfig(bindings: unknown): Config {
  const { CHAIN_RPC_URLS, RETURN_URL_ORIGINS, GAS_USD_MAX, NATIVE_USD_RATES, ...parsed } =
    schema.parse(bindings)
  const { ALLOW_LOOPBACK, ...rest } = parsed
  const allowLoopback = ALLOW_LOOPBACK === 'true'
  if (allowLoopback && rest.ENVIRONMENT !== 'local') {
    throw new Error('ALLOW_LOOPBACK is for ENVIRONMENT=local only')
  }
  // What an agent writes would pass for a notice, with the signature of its domain.
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

/** A setting that this function cannot work without. */
export function required<Name extends keyof Config>(
  config: Config,
  name: Name,
): NonNullable<Config[Name]> {
  const value = config[name]
  if (value === undefined || value === null) throw new Error(`${String(name)} is not bound`)
  return value
}
