/** Runs wrangler for one worker, with its secrets in a file that has no name. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { readDeployment } from '../../local/functions.ts'
import type { PlannedWorker } from '../plan.ts'
import type { Api } from './account.ts'

/** A worker with all that goes to the account. */
export type Deploying = {
  worker: PlannedWorker
  /** File of its module. */
  file: string
  secrets: Readonly<Record<string, string>>
  /** Tag of the version. */
  tag: string
}

/** Variables of this process that wrangler is given: how to find programs, and how to leave this network. */
const passedOn = /^(PATH|(HTTPS?|NO)_PROXY|NODE_EXTRA_CA_CERTS)$/i

/** Uploads and deploys one worker with its routes and schedules. Throws wrangler's error if it fails. */
export async function deployWorker(api: Api, deploying: Deploying): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-deploy-'))
  const config = join(directory, 'wrangler.json')
  const secrets = openNameless(join(directory, 'secrets.json'), deploying.secrets)
  try {
    writeFileSync(config, JSON.stringify(configOf(api, deploying)))
    const given = ['--config', config, '--secrets-file', '/dev/fd/3', '--tag', deploying.tag]
    const said = await runWrangler(api, directory, ['deploy', ...given], secrets)
    if (said !== undefined) {
      throw new Error(`${deploying.worker.name} was not uploaded: ${redact(said, api, deploying)}`)
    }
  } finally {
    closeSync(secrets)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Returns an open file with this content that no folder shows, so that nothing is left of it after a kill. */
function openNameless(path: string, content: object): number {
  const file = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  // At a position, so that a reader begins at the start.
  writeSync(file, JSON.stringify(content), 0)
  return file
}

function configOf({ accountId }: Api, { worker, file }: Deploying): object {
  const { name, routes, crons, vars, services, secrets, cpuMilliseconds } = worker
  return {
    ...readDeployment().worker,
    name,
    account_id: accountId,
    main: resolve(file),
    send_metrics: false,
    routes,
    triggers: { crons },
    vars,
    services,
    secrets: { required: secrets },
    ...(cpuMilliseconds !== undefined && { limits: { cpu_ms: cpuMilliseconds } }),
    // Wrangler would keep the secrets of the version before, also those that are needed no more.
    unsafe: { metadata: { keep_bindings: [] } },
  }
}

/** Runs wrangler. Returns its error if it failed. */
async function runWrangler(
  { accountId, token, url, signal }: Api,
  directory: string,
  given: readonly string[],
  secrets: number,
): Promise<string | undefined> {
  const program = createRequire(import.meta.url).resolve('wrangler')
  const own = Object.entries(process.env).filter(([name]) => passedOn.test(name))
  const child = spawn(process.execPath, ['--no-warnings', program, ...given], {
    cwd: directory,
    env: {
      ...Object.fromEntries(own),
      HOME: directory,
      XDG_CONFIG_HOME: directory,
      CI: 'true',
      NO_COLOR: '1',
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_WRITE_LOGS: 'false',
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_ACCOUNT_ID: accountId,
      CLOUDFLARE_API_TOKEN: token,
    },
    stdio: ['ignore', 'pipe', 'pipe', secrets],
    signal,
    killSignal: 'SIGKILL',
  })
  const outputs = [child.stderr, child.stdout].flatMap((stream) => (stream ? [text(stream)] : []))
  const ended = once(child, 'exit').then(() => '')
  const said = await Promise.all([...outputs, ended])
  if (child.exitCode === 0) return undefined
  const words = stripVTControlCharacters(said.join(' '))
  const [, error = words] = words.split('[ERROR]')
  return error
}

/** Returns wrangler's error as one line, without the token and without any secret. */
function redact(said: string, { token }: Api, { secrets }: Deploying): string {
  const hidden = [token, ...Object.values(secrets)].toSorted((a, b) => b.length - a.length)
  const shown = hidden.reduce((words, secret) => words.replaceAll(secret, '[hidden]'), said)
  return shown.replaceAll(/\s+/g, ' ').trim()
}
