/** The deployment as a program: settings, questions to its operator, progress, and Ctrl-C. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { demandLong, readPassphrase } from '../backup/passphrase.ts'
import { outside } from '../program/outside.ts'
import { askHidden, askPerson, isAttended } from '../program/prompt.ts'
import { askSettings } from './init.ts'
import { secretsPath } from './keys.ts'
import { kmsKeyNamed, sealCustodyRoots } from './kms.ts'
import { sayPlan } from './preview.ts'
import { cloudflareWorkers } from './ready-workers.ts'
import { replaceSecret } from './replace.ts'
import { type Deployment, deploy, isWell, takeBack } from './run.ts'
import {
  type Credentials,
  type DeploySettings,
  readCredential,
  readCredentials,
  readDeploySettings,
} from './settings.ts'
import { beforePath, isUnfinished } from './upload/before.ts'
import { cloudflareUrl } from './zone.ts'

const supabaseUrl = 'https://api.supabase.com'
const interruptedCode = 130

/** Options of the command line. */
export type Options = {
  settings: string
  init?: boolean | undefined
  check?: boolean | undefined
  plan?: boolean | undefined
  rollback?: boolean | undefined
  kms?: string | undefined
  replace?: string | undefined
  escrowed?: boolean | undefined
  target?: string | undefined
  secrets?: boolean | undefined
  'passphrase-file'?: string | undefined
}

/** Runs until it is done or interrupted. Returns the exit code. */
export async function run(options: Options): Promise<number> {
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort())
  const { signal } = stopping
  try {
    return await runWith(options, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    const isOpen = isUnfinished(beforePath(resolve(options.settings)))
    const back = isOpen ? ', or npm run deploy -- --rollback to bring the workers back' : ''
    console.log(`stopped; run this again to go on from here${back}`)
    return interruptedCode
  }
}

async function runWith(options: Options, signal: AbortSignal): Promise<number> {
  const file = resolve(options.settings)
  if (options.init) {
    if (!isAttended()) throw new Error('--init asks at a terminal, and this is none')
    await askSettings(file, (question) => askPerson(question, signal))
    console.log(`${file} written; npm run deploy -- --check looks at everything`)
    return 0
  }
  const settings = readDeploySettings(file)
  if (options.target !== undefined) return runTarget(options.target, options, settings, signal)
  const ask = (name: string) => secretNamed(name, `set ${name} in the environment`, signal)
  if (options.rollback) {
    const token = await readCredential(process.env, 'cloudflareToken', ask)
    const cloudflare = { url: cloudflareUrl, token, fetch, signal }
    return takeBack({ settings, cloudflare, say: (line) => console.log(line) })
  }
  if (options.kms !== undefined) {
    const key = kmsKeyNamed(options.kms, process.env)
    await sealCustodyRoots(file, await passphraseFor(options, file, signal), key, outside)
    console.log(`${key.key} seals the root keys of custody; npm run deploy brings them there
A copy of ${secretsPath(file)} from before opens without that key. Keep it where nobody works with it, or destroy it.`)
    return 0
  }
  if (options.replace !== undefined) {
    const passphrase = await passphraseFor(options, file, signal)
    console.log(await replaceSecret(file, passphrase, options.replace))
    return 0
  }
  const credentials = await readCredentials(process.env, settings, ask)
  const given = { options, settings, credentials, signal }
  if (options.plan) return sayPlan(deploymentOf(given, ''))
  if (options.check) {
    const path = options['passphrase-file']
    const passphrase = path === undefined ? '' : readPassphrase(path)
    return (await isWell(deploymentOf(given, passphrase))) ? 0 : 1
  }
  return deploy(deploymentOf(given, await passphraseFor(options, file, signal)))
}

/** Does what `--target` names, for which fewer secrets are needed. */
async function runTarget(
  target: string,
  options: Options,
  settings: DeploySettings,
  signal: AbortSignal,
): Promise<number> {
  const { demandTarget, sayEdgePlan, secretLines, writeTarget } = await import('./edge/run.ts')
  const say = (line: string) => console.log(line)
  demandTarget(target, settings)
  if (options.plan) return sayEdgePlan(settings, say)
  if (options.secrets && process.stdout.isTTY) {
    throw new Error('--secrets writes for another program: send it into a pipe')
  }
  const passphrase = await passphraseFor(options, settings.file, signal)
  if (options.secrets) {
    process.stdout.write(await secretLines(settings, passphrase))
    return 0
  }
  const name = 'SUPABASE_ACCESS_TOKEN'
  const token =
    process.env[name] || (await secretNamed(name, `set ${name} in the environment`, signal))
  const supabase = { url: supabaseUrl, token, project: settings.project, fetch, signal }
  return writeTarget({ settings, passphrase, supabase, fetch, outdir: 'dist', say })
}

/** Asks a person for a secret. Throws a sentence that says what to do if there is none at the terminal. */
function secretNamed(name: string, instead: string, signal: AbortSignal): Promise<string> {
  if (!isAttended()) throw new Error(`${name} is missing: ${instead}`)
  return askHidden(`${name}: `, signal)
}

/** Returns the passphrase of the secrets. A new one is asked for twice, because nothing else opens them. */
async function passphraseFor(
  { 'passphrase-file': path }: Options,
  file: string,
  signal: AbortSignal,
): Promise<string> {
  if (path !== undefined) return readPassphrase(path)
  const ask = (name: string) => secretNamed(name, 'give --passphrase-file', signal)
  const typed = demandLong(await ask('The passphrase of the secrets'))
  if (!existsSync(secretsPath(file)) && (await ask('The same again')) !== typed) {
    throw new Error('the two passphrases differ; run this again')
  }
  return typed
}

type Given = {
  options: Options
  settings: DeploySettings
  credentials: Credentials
  signal: AbortSignal
}

function deploymentOf(
  { options, settings, credentials, signal }: Given,
  passphrase: string,
): Deployment {
  const { cloudflareToken, supabaseToken } = credentials
  return {
    settings,
    credentials,
    cloudflare: { url: cloudflareUrl, token: cloudflareToken, fetch, signal },
    supabase: { url: supabaseUrl, token: supabaseToken, project: settings.project, fetch, signal },
    workers: cloudflareWorkers,
    passphrase,
    confirmEscrow: async (path) => {
      if (options.escrowed || !isAttended()) return options.escrowed ?? false
      console.log(`Whoever loses ${path} or its passphrase loses every wallet and every login.`)
      return (await askPerson('Is a copy of both kept elsewhere? (yes) ', signal)) === 'yes'
    },
    fetch,
    now: () => new Date(),
    pause: async (milliseconds) => wait(milliseconds, undefined, { signal }),
    say: (line) => console.log(line),
    signal,
  }
}
