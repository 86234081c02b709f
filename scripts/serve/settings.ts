/** The settings of a service, from the command line, the environment and `serve.toml` in the data folder. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { writePrivate } from '../local/secrets.ts'
import { newFiles, type SecretsName, type SecretTexts } from './new-secrets.ts'
import { byCaip2, caip2Of, readSettingsFile, serviceFields } from './settings-file.ts'

/** The form of serve.toml: what cannot be guessed. */
const fileSchema = z.strictObject({
  ...serviceFields,
  public_url: z.url().optional(),
  mail_domain: z.string().min(1).optional(),
  mail_token: z.string().min(1).optional(),
  turnstile_secret_key: z.string().min(1).optional(),
  /** Address that the sandbox is paid to, and the facilitator that settles there. */
  sandbox_pay_to: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'has to be an address, 0x and 40 hexadecimal digits')
    .optional(),
  sandbox_facilitator_url: z.url().optional(),
  /** Address that alarms are posted to. */
  alarm_url: z.url().optional(),
  /** Address that alarms are mailed to, by the mail provider. */
  alarm_mail: z.email().optional(),
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
  /** Absent if no address is named that it is paid to. */
  sandbox: { payTo: string; facilitatorUrl: string | undefined } | undefined
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
  const file = readSettingsFile(join(directory, 'serve.toml'), fileSchema)
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
    sandbox:
      file.sandbox_pay_to === undefined
        ? undefined
        : { payTo: file.sandbox_pay_to, facilitatorUrl: file.sandbox_facilitator_url },
    eurUsdRate: file.eur_usd_rate ?? '',
    alarmUrl: file.alarm_url,
    alarmMail: file.alarm_mail,
    rpc: { ...byCaip2(file.rpc), ...rpcOfFlags(flags.rpc ?? []) },
    isBehindProxy: flags['trusted-proxy'] ?? false,
    signup: signupOf(flags.signup),
    smtpPort:
      flags['smtp-port'] === undefined ? undefined : portOf('--smtp-port', flags['smtp-port']),
    tls: tlsOf(flags),
    hostname: flags.listen ?? '127.0.0.1',
    logsRequests: flags['log-requests'] ?? false,
  }
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

const texts = z.record(z.string(), z.string())

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

/** Reads one of the files. */
export function readSecrets(directory: string, name: SecretsName): SecretTexts {
  return texts.parse(JSON.parse(readFileSync(join(folderIn(directory), `${name}.json`), 'utf8')))
}

/** Folder that has to be backed up. */
export function folderIn(directory: string): string {
  return join(directory, 'secrets')
}
