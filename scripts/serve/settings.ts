/** The settings of a service, from the command line, the environment and `serve.toml` in the data folder. */
import { createECDH, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import * as z from 'zod'
import { chainNamed, knownChains } from '../../shared/chains/registry.ts'
import { createReceiptKeys, createSessionKeys, newDkimKey, writePrivate } from '../local/secrets.ts'

/** The form of serve.toml: what cannot be guessed. */
const fileSchema = z.strictObject({
  public_url: z.url().optional(),
  mail_domain: z.string().min(1).optional(),
  /** Domain of notices to owners. */
  notice_domain: z.string().min(1).optional(),
  /** Address of the mail provider: https://provider/emails, or smtps://user@host. */
  mail_url: z.url().optional(),
  mail_token: z.string().min(1).optional(),
  /** Keys of a widget of Cloudflare Turnstile, which the sign-up page then shows. */
  turnstile_site_key: z.string().min(1).optional(),
  turnstile_secret_key: z.string().min(1).optional(),
  eur_usd_rate: z.string().optional(),
  /** Address that alarms are posted to. */
  alarm_url: z.url().optional(),
  /** Address that alarms are mailed to, by the mail provider. */
  alarm_mail: z.email().optional(),
  /** Name of a chain, or its CAIP-2 id -> RPC endpoints; two of different operators are best. */
  rpc: z.record(z.string(), z.array(z.url()).min(1)).default({}),
})

/** Flags of the command line; absent ones are taken from the file, or have a default. */
export type Flags = {
  port: string
  data: string
  'database-url'?: string | undefined
  'public-url'?: string | undefined
  rpc?: string[] | undefined
  'trusted-proxy'?: boolean | undefined
  signup: string
  'smtp-port'?: string | undefined
  'tls-cert'?: string | undefined
  'tls-key'?: string | undefined
  listen?: string | undefined
  'log-requests'?: boolean | undefined
}

/** Settings that the service runs with. */
export type Settings = {
  port: number
  directory: string
  databaseUrl: string | undefined
  /** Origin of the functions, and address of the owner's pages. */
  baseUrl: string
  webUrl: string
  mailDomain: string
  noticeDomain: string
  mail: { url: string; token: string } | undefined
  turnstile: { siteKey: string; secretKey: string } | undefined
  eurUsdRate: string
  alarmUrl: string | undefined
  alarmMail: string | undefined
  /** CAIP-2 id -> endpoints. */
  rpc: Readonly<Record<string, readonly string[]>>
  /** True if a proxy in front names the client in X-Forwarded-For. */
  isBehindProxy: boolean
  signup: 'open' | 'invited' | 'closed'
  /** Port for mail to agents; none is taken if absent. */
  smtpPort: number | undefined
  /** Files of the certificate and its key, as PEM. */
  tls: { cert: string; key: string } | undefined
  /** Address to listen on. */
  hostname: string
  logsRequests: boolean
}

/** Reads everything. Throws one sentence for the first setting that cannot be used. */
export function readSettings(flags: Flags): Settings {
  const directory = resolve(flags.data)
  const file = readSettingsFile(join(directory, 'serve.toml'))
  const port = portOf('--port', flags.port)
  const publicUrl = (flags['public-url'] ?? file.public_url)?.replace(/\/$/, '')
  if (publicUrl !== undefined && new URL(publicUrl).origin !== publicUrl) {
    throw new Error(
      `--public-url takes an origin such as https://account.example, not ${publicUrl}`,
    )
  }
  const mailDomain =
    file.mail_domain ?? (publicUrl ? new URL(publicUrl).hostname : 'agents.localhost')
  const { mail_url: url, mail_token: token } = file
  if ((url === undefined) !== (token === undefined)) {
    throw new Error('serve.toml: mail_url and mail_token belong together')
  }
  if (file.alarm_mail !== undefined && url === undefined) {
    throw new Error('serve.toml: alarm_mail needs mail_url and mail_token')
  }
  return {
    port,
    directory,
    databaseUrl: flags['database-url'] ?? process.env['DATABASE_URL'],
    baseUrl: publicUrl ?? `http://127.0.0.1:${port}`,
    // Passkeys need a name, which an address is not.
    webUrl: `${publicUrl ?? `http://localhost:${port}`}/web`,
    mailDomain,
    noticeDomain: file.notice_domain ?? `notices.${mailDomain}`,
    mail: url === undefined || token === undefined ? undefined : { url, token },
    turnstile: turnstileOf(file),
    eurUsdRate: file.eur_usd_rate ?? '',
    alarmUrl: file.alarm_url,
    alarmMail: file.alarm_mail,
    rpc: { ...rpcOfFile(file.rpc), ...rpcOfFlags(flags.rpc ?? []) },
    isBehindProxy: flags['trusted-proxy'] ?? false,
    signup: signupOf(flags.signup),
    smtpPort:
      flags['smtp-port'] === undefined ? undefined : portOf('--smtp-port', flags['smtp-port']),
    tls: tlsOf(flags),
    hostname: flags.listen ?? '127.0.0.1',
    logsRequests: flags['log-requests'] ?? false,
  }
}

function readSettingsFile(path: string): z.output<typeof fileSchema> {
  if (!existsSync(path)) return fileSchema.parse({})
  const read = fileSchema.safeParse(parseToml(readFileSync(path, 'utf8')))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(`${path}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim())
}

function turnstileOf({
  turnstile_site_key: siteKey,
  turnstile_secret_key: secretKey,
}: z.output<typeof fileSchema>): Settings['turnstile'] {
  if ((siteKey === undefined) !== (secretKey === undefined)) {
    throw new Error('serve.toml: turnstile_site_key and turnstile_secret_key belong together')
  }
  return siteKey === undefined || secretKey === undefined ? undefined : { siteKey, secretKey }
}

function portOf(flag: string, text: string): number {
  const port = Number(text)
  if (/^[0-9]{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new Error(`${flag} takes a number from 1 to 65535, not ${text}`)
}

function tlsOf({ 'tls-cert': cert, 'tls-key': key }: Flags): Settings['tls'] {
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error('--tls-cert and --tls-key belong together')
  }
  return cert === undefined || key === undefined
    ? undefined
    : { cert: resolve(cert), key: resolve(key) }
}

function signupOf(text: string): Settings['signup'] {
  if (text === 'open' || text === 'invited' || text === 'closed') return text
  throw new Error(`--signup takes open, invited or closed, not ${text}`)
}

/** Reads `--rpc [chain=]url`; endpoints of the same chain are collected in their order. */
function rpcOfFlags(texts: readonly string[]): Settings['rpc'] {
  const found: Record<string, string[]> = {}
  for (const text of texts) {
    const [, name = 'base-sepolia', url = ''] =
      /^(?:([a-z0-9:-]+)=)?(https?:\/\/.+)$/.exec(text) ?? []
    if (!URL.canParse(url)) throw new Error(`--rpc takes [chain=]url, not ${text}`)
    const id = caip2Of(name)
    found[id] = [...(found[id] ?? []), url]
  }
  return found
}

function rpcOfFile(named: Readonly<Record<string, readonly string[]>>): Settings['rpc'] {
  return Object.fromEntries(Object.entries(named).map(([name, urls]) => [caip2Of(name), urls]))
}

/** Returns the CAIP-2 id of a chain of the registry. */
function caip2Of(name: string): string {
  const found = chainNamed(name)
  if (found) return found.caip2
  const names = knownChains.map((one) => one.name).join(', ')
  throw new Error(`there is no chain ${name}; use one of ${names}`)
}

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
