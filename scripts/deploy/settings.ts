/** The settings of a deployment, from one file, and the secrets that its operator has of others. */
import { existsSync } from 'node:fs'
import * as z from 'zod'
import { readConfig } from '../../shared/env.ts'
import { yieldVaults } from '../../shared/yield/registry.ts'
import { byCaip2, type Endpoints, readSettingsFile, serviceFields } from '../serve/settings-file.ts'
import { type Form, usualName } from './plan.ts'

const domain = z
  .string()
  .regex(
    /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/,
    'has to be a domain in lower case',
  )

/** The form of deploy.toml. */
const fileSchema = z.strictObject({
  /** Origin of the functions. */
  base_url: z.url('has to be an origin such as https://api.example.com'),
  /** Zone of Cloudflare that the host of base_url belongs to. */
  zone: domain,
  account_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, 'has to be the id of an account of Cloudflare, 32 hexadecimal digits'),
  mail_domain: domain,
  notice_domain: domain.optional(),
  mail_url: z.url('has to be the address of a mail provider, https:// or smtps://'),
  /** Reference of the Supabase project. */
  supabase_project: z
    .string()
    .regex(/^[a-z]{20}$/, 'has to be the reference of a Supabase project, 20 letters'),
  /** Begins the name of each worker. Without a hyphen, no deployment's name can begin that of another. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,19}$/, 'has to be letters and digits in lower case, 20 at most')
    .default(usualName),
  workers: z.enum(['few', 'each'], 'has to be "few" or "each"').default('few'),
  /** True if operations also run at Supabase, and may call custody, the vault and the mailer from there. */
  supabase_functions: z.boolean('has to be true or false').default(false),
  eur_usd_rate: z
    .string()
    .regex(/^[0-9]{1,3}(\.[0-9]{1,6})?$/, 'has to be USD per EUR as text, such as "1.08"')
    .optional(),
  turnstile_site_key: serviceFields.turnstile_site_key,
  rpc: serviceFields.rpc,
  /** Other vars of scripts/deploy/functions.toml -> values in place of those there. */
  vars: z.record(z.string(), z.string()).default({}),
})

/** Vars that may differ in a deployment and that no other setting gives. */
const freeVars = [
  'RETURN_URL_ORIGINS',
  'GAS_USD_MAX',
  'NATIVE_USD_RATES',
  'YIELD_VAULTS',
  'SANDBOX_PAY_TO',
  'SANDBOX_FACILITATOR_URL',
  'DKIM_SELECTOR',
  'WALLETCONNECT_PROJECT_ID',
  'WALLETCONNECT_RELAY_URL',
  'OAUTH_CLIENT_DOCUMENTS',
]

/** Settings of a deployment. */
export type DeploySettings = {
  /** File of the settings; those of the secrets and tokens stand beside it. */
  file: string
  baseUrl: string
  zone: string
  accountId: string
  mailDomain: string
  noticeDomain: string
  mailUrl: string
  project: string
  /** Begins the name of each worker, before a hyphen. */
  name: string
  workers: Form
  /** True if operations also run as functions of the Supabase project. */
  runsAtSupabase: boolean
  /** Empty if no challenge is asked for. */
  turnstileSiteKey: string
  eurUsdRate: string
  /** CAIP-2 id -> endpoints. */
  rpc: Endpoints
  /** Values of vars that stand in place of those of scripts/deploy/functions.toml. */
  vars: Readonly<Record<string, string>>
}

/** Reads the file. Throws one sentence for the first setting that cannot be used. */
export function readDeploySettings(file: string): DeploySettings {
  if (!existsSync(file)) {
    throw new Error(`${file} does not exist: npm run deploy -- --init asks for what it holds`)
  }
  const read = readSettingsFile(file, fileSchema)
  const settings: DeploySettings = {
    file,
    baseUrl: read.base_url.replace(/\/$/, ''),
    zone: read.zone,
    accountId: read.account_id,
    mailDomain: read.mail_domain,
    noticeDomain: read.notice_domain ?? `notices.${read.mail_domain}`,
    mailUrl: read.mail_url,
    project: read.supabase_project,
    name: read.name,
    workers: read.workers,
    runsAtSupabase: read.supabase_functions,
    turnstileSiteKey: read.turnstile_site_key ?? '',
    eurUsdRate: read.eur_usd_rate ?? '',
    rpc: byCaip2(read.rpc),
    vars: read.vars,
  }
  const wrong = firstWrong(settings)
  if (wrong !== undefined) throw new Error(`${file}: ${wrong}`)
  return settings
}

/** Returns a sentence for the first settings that do not fit together. */
function firstWrong(settings: DeploySettings): string | undefined {
  const { baseUrl, zone, mailDomain, noticeDomain, mailUrl, rpc, vars } = settings
  const { origin, protocol, hostname, port } = new URL(baseUrl)
  // A route of a zone has no port.
  if (protocol !== 'https:' || origin !== baseUrl || port !== '') {
    return `base_url has to be an origin such as https://api.example.com, not ${baseUrl}`
  }
  if (!isWithin(hostname, zone)) return `base_url ${baseUrl} is not in the zone ${zone}`
  if (!isWithin(mailDomain, zone)) return `mail_domain ${mailDomain} is not in the zone ${zone}`
  if (noticeDomain === mailDomain) {
    return `notice_domain is the domain of agents, ${mailDomain}; give notices one of their own`
  }
  if (!/^(https|smtps):$/.test(new URL(mailUrl).protocol)) {
    return 'mail_url is neither https: nor smtps:'
  }
  const plain = Object.entries(rpc).find(([, urls]) =>
    urls.some((url) => !url.startsWith('https:')),
  )
  // The address itself may hold the key that an endpoint is paid with.
  if (plain) return `rpc of ${plain[0]} has an endpoint that is not https:`
  const other = Object.keys(vars).find((name) => !freeVars.includes(name))
  if (other !== undefined) return `vars has ${other}, which is none of ${freeVars.join(', ')}`
  return firstWrongVar(settings)
}

/** Returns a sentence for the first var whose value no function could start with. */
function firstWrongVar({ baseUrl, mailDomain, vars, turnstileSiteKey }: DeploySettings) {
  const names = { BASE_URL: baseUrl, WEB_URL: `${baseUrl}/web`, MAIL_DOMAIN: mailDomain }
  const isTaken = (name: string, value: string) => {
    try {
      yieldVaults(readConfig({ ...names, [name]: value }))
      return true
    } catch {
      return false
    }
  }
  if (!isTaken('TURNSTILE_SITE_KEY', turnstileSiteKey)) return 'turnstile_site_key is not one'
  const wrong = Object.entries(vars).find(([name, value]) => !isTaken(name, value))
  return wrong && `vars.${wrong[0]} is not of the form that scripts/README.md gives (Settings)`
}

/** Returns true if a host is a zone or below it. */
export function isWithin(host: string, zone: string): boolean {
  return host === zone || host.endsWith(`.${zone}`)
}

const credentialNames = {
  cloudflareToken: 'CLOUDFLARE_API_TOKEN',
  supabaseToken: 'SUPABASE_ACCESS_TOKEN',
  databaseUrl: 'DATABASE_URL',
  mailToken: 'MAIL_TOKEN',
  turnstileSecret: 'TURNSTILE_SECRET_KEY',
} as const

/** Secrets that an operator has of others. */
export type Credentials = Readonly<Record<keyof typeof credentialNames, string>>

type Environment = Readonly<Record<string, string | undefined>>

/** Takes one from the environment, or asks for it. */
export async function readCredential(
  environment: Environment,
  key: keyof Credentials,
  askHidden: (name: string) => Promise<string>,
): Promise<string> {
  return environment[credentialNames[key]] || (await askHidden(credentialNames[key]))
}

/** Takes all from the environment, and asks for those that are not there. */
export async function readCredentials(
  environment: Environment,
  { turnstileSiteKey }: DeploySettings,
  askHidden: (name: string) => Promise<string>,
): Promise<Credentials> {
  const take = (key: keyof Credentials) => readCredential(environment, key, askHidden)
  return {
    cloudflareToken: await take('cloudflareToken'),
    supabaseToken: await take('supabaseToken'),
    databaseUrl: await take('databaseUrl'),
    mailToken: await take('mailToken'),
    // Without a challenge nobody reads it, but the binding has to have some value.
    turnstileSecret: turnstileSiteKey === '' ? 'none' : await take('turnstileSecret'),
  }
}
