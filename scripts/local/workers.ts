/**
 * Runs every built function in a worker of its own, wired as wrangler.toml says: routes, bindings,
 * secrets and schedules. Custody has no address; what functions send out passes one egress worker.
 * The port that serves them is the router's alone, not the control port of Miniflare.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { Log, LogLevel, Miniflare, type MiniflareOptions, type WorkerOptions } from 'miniflare'
import * as z from 'zod'
import { type FunctionSettings, readFunctions } from './functions.ts'
import type { EgressRights } from './workers/egress.ts'

const scheduleSeconds = 5

export type WorkersOptions = {
  /** What wrangler.toml says, for who has read it before. */
  functions?: readonly FunctionSettings[]
  /** Where the functions listen on 127.0.0.1. */
  port: number
  /** Directory with <function>.mjs. */
  modules: string
  /** A value for every var and secret that wrangler.toml names, unless its own is right here too. */
  bindings: Readonly<Record<string, string>>
  /** What functions and their egress write, one line each. */
  log: (line: string) => void
}

export type Workers = {
  url: string
  /** Hands a mail to a function's `email`, as the platform does; what became of it. */
  email(folder: string, envelope: { from: string; to: string }, raw: string): Promise<EmailResult>
  stop(): Promise<void>
}

const emailResult = z.object({ outcome: z.string(), rejectReason: z.string().optional() })
export type EmailResult = z.output<typeof emailResult>

const miniflareFile = createRequire(import.meta.url).resolve('miniflare')
const workerdModule = z.object({ default: z.string() })

type Binding = NonNullable<WorkerOptions['config']['env']>[string]

/** Starts all functions; they answer when this resolves. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const functions = options.functions ?? (await readFunctions())
  const [router, egress] = [await readCode('router'), await readCode('egress')]
  const miniflare = openMiniflare({
    cf: false,
    host: '127.0.0.1',
    port: 0,
    log: new Log(LogLevel.ERROR),
    handleStructuredLogs: ({ message }) => options.log(message),
    unsafeTriggerHandlers: true,
    workers: [
      routerWorker(router, functions, options.port),
      ...functions.map((settings) => functionWorker(settings, functions, options)),
      worker('egress', egress, newest(functions)),
    ],
  })
  try {
    await miniflare.ready
  } catch (error) {
    await miniflare.dispose()
    throw error
  }
  const endSchedules = keepSchedules(miniflare, functions, options.log)
  const stop = async () => {
    await endSchedules()
    await miniflare.dispose()
  }
  const email: Workers['email'] = async (folder, envelope, body) => {
    const query = new URLSearchParams({ format: 'json', ...envelope })
    const headers = {
      'MF-Route-Override': functions.find((one) => one.folder === folder)?.name ?? '',
    }
    const url = `http://localhost/cdn-cgi/local/email?${query.toString()}`
    const answer = await miniflare.dispatchFetch(url, { method: 'POST', body, headers })
    return emailResult.parse(await answer.json())
  }
  return { url: `http://127.0.0.1:${options.port}`, email, stop }
}

/**
 * Miniflare with two manners of a neighbour: it does not end the whole process on a signal before
 * the others are stopped, and its workerd does not outlive a process that was killed.
 */
function openMiniflare(options: MiniflareOptions): Miniflare {
  const { default: workerd } = workerdModule.parse(createRequire(miniflareFile)('workerd'))
  process.env['AOA_WORKERD'] = workerd
  process.env['MINIFLARE_WORKERD_PATH'] = pathOf('workerd.sh')
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = new Set(signals.flatMap((name) => process.listeners(name)))
  const miniflare = new Miniflare(options)
  for (const name of signals) {
    for (const listener of process.listeners(name)) {
      if (!before.has(listener)) process.off(name, listener)
    }
  }
  return miniflare
}

function worker(name: string, contents: string, compatibilityDate: string) {
  const modules = { 'index.mjs': { type: 'esm' as const, contents } }
  const manifest = { mainModule: 'index.mjs', modulesRoot: '/', modules }
  return { config: { name, compatibilityDate, manifest } } satisfies WorkerOptions
}

function routerWorker(
  code: string,
  functions: readonly FunctionSettings[],
  port: number,
): WorkerOptions {
  const routes = functions
    .flatMap(({ folder, prefixes }) => prefixes.map((prefix): [string, string] => [prefix, folder]))
    .toSorted(([one], [other]) => other.length - one.length)
  const reached = functions.filter(({ prefixes }) => prefixes.length > 0)
  const targets = reached.map(({ folder, name }): [string, Binding] => [folder, reach(name)])
  const { config } = worker('router', code, newest(functions))
  return {
    config: {
      ...config,
      env: { ROUTES: { type: 'json', value: routes }, ...fromEntries(targets) },
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port }] },
  }
}

function functionWorker(
  settings: FunctionSettings,
  functions: readonly FunctionSettings[],
  { modules, bindings }: WorkersOptions,
): WorkerOptions {
  const { folder, name, vars, secrets, services, compatibilityDate } = settings
  const texts: Record<string, string> = {}
  for (const key of [...Object.keys(vars), ...secrets]) {
    const value = bindings[key] ?? vars[key]
    if (value === undefined) throw new Error(`${folder} needs ${key}`)
    texts[key] = value
  }
  const bound = services.map(({ binding, service }): [string, Binding] => {
    if (!functions.some((other) => other.name === service)) throw new Error(`no ${service}`)
    return [binding, reach(service)]
  })
  const given = Object.entries(texts).map(([key, value]): [string, Binding] => [
    key,
    { type: 'text', value },
  ])
  const code = readFileSync(join(modules, `${folder}.mjs`), 'utf8')
  const { config } = worker(name, code, compatibilityDate)
  return {
    config: { ...config, env: fromEntries([...given, ...bound]) },
    dev: {
      outboundService: { type: 'worker', worker: 'egress', props: egressRights(folder, texts) },
    },
  }
}

const endpoints = z.record(z.string(), z.array(z.url()))

/**
 * A function reaches the addresses that it was bound to. Strangers are reached by x402, by the vault, and
 * by the pages, which look apps up at their own addresses.
 */
function egressRights(folder: string, texts: Readonly<Record<string, string>>): EgressRights {
  const { SUPABASE_URL, MAIL_URL, CHAIN_RPC_URLS = '{}' } = texts
  const chains = Object.values(endpoints.parse(JSON.parse(CHAIN_RPC_URLS))).flat()
  const bound = [SUPABASE_URL, MAIL_URL, ...chains].flatMap((url) => (url ? [new URL(url)] : []))
  const hostsOf = (protocol: RegExp) =>
    bound.filter((url) => protocol.test(url.protocol)).map(({ host }) => host)
  return {
    hosts: hostsOf(/^https?:$/),
    sockets: hostsOf(/^smtp:$/),
    strangers: folder.startsWith('x402-') || folder === 'vault' || folder === 'web',
  }
}

// Miniflare fires no schedule by itself; here each comes round every few seconds, never twice at once.
function keepSchedules(
  miniflare: Miniflare,
  functions: readonly FunctionSettings[],
  log: (line: string) => void,
): () => Promise<void> {
  const scheduled = functions.filter(({ crons }) => crons.length > 0)
  let running: Promise<void> | undefined
  const runAll = async () => {
    for (const { folder, name, crons } of scheduled) {
      const url = `http://localhost/cdn-cgi/local/scheduled?cron=${encodeURIComponent(crons[0] ?? '')}`
      const answer = await miniflare.dispatchFetch(url, { headers: { 'MF-Route-Override': name } })
      if (!answer.ok) log(`${folder}: the scheduled run failed`)
    }
  }
  const comeRound = () => {
    running ??= runAll()
      .catch((error: unknown) => log(`schedule: ${String(error)}`))
      .finally(() => {
        running = undefined
      })
  }
  // At once as well: what those before left open does not wait.
  comeRound()
  const timer = setInterval(comeRound, scheduleSeconds * 1000)
  return async () => {
    clearInterval(timer)
    await running
  }
}

function newest(functions: readonly FunctionSettings[]): string {
  return (
    functions
      .map(({ compatibilityDate }) => compatibilityDate)
      .toSorted()
      .at(-1) ?? ''
  )
}

function reach(service: string): Binding {
  return { type: 'worker', worker: service }
}

function fromEntries(entries: readonly (readonly [string, Binding])[]): Record<string, Binding> {
  return Object.fromEntries(entries)
}

async function readCode(name: 'router' | 'egress'): Promise<string> {
  const text = readFileSync(pathOf(`${name}.ts`), 'utf8')
  return (await transform(text, { loader: 'ts' })).code
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`workers/${name}`, import.meta.url))
}
