/**
 * Runs every built function in a worker of its own, wired as its settings say: routes, bindings, secrets
 * and schedules. Custody has no address. What functions send out passes through one egress worker. The
 * port that serves them is that of the router alone, not the control port of Miniflare.
 */
import { Log, LogLevel, type Miniflare, type WorkerOptions } from 'miniflare'
import * as z from 'zod'
import {
  type Binding,
  fromEntries,
  functionWorker,
  reach,
  readCode,
  worker,
} from './function-worker.ts'
import { type FunctionSettings, readFunctions } from './functions.ts'
import { openMiniflare } from './miniflare.ts'
import { runsApart, startApart } from './process/apart.ts'

/** Settings of the workers. */
export type WorkersOptions = {
  /** Settings of the functions, if the caller has read them already. */
  functions?: readonly FunctionSettings[]
  /** Port of 127.0.0.1 on which the functions listen. */
  port: number
  /** Directory that holds <function>.mjs. */
  modules: string
  /** Values for the vars and secrets of the functions; a var without one keeps its own value. */
  bindings: Readonly<Record<string, string>>
  /** Seconds between two runs of a schedule; a minute, as on a platform, if absent. */
  scheduleSeconds?: number | undefined
  /** Receives what functions and their egress write, one line at a time. */
  log: (line: string) => void
}

/** All functions, running. */
export type Workers = {
  url: string
  /** Hands a mail to a function's `email`, as the platform does, and returns the outcome. */
  email(folder: string, envelope: { from: string; to: string }, raw: string): Promise<EmailResult>
  stop(): Promise<void>
}

const emailResult = z.object({ outcome: z.string(), rejectReason: z.string().optional() })
/** Outcome of a mail that was handed over. */
export type EmailResult = z.output<typeof emailResult>

/** Starts all functions. They answer requests when this resolves. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const functions = options.functions ?? (await readFunctions())
  const names = ['router', 'egress', 'platform'] as const
  const [router = '', egress = '', platform = ''] = await Promise.all(names.map(readCode))
  const { modules, bindings } = options
  const apart = await startApart({ functions, modules, bindings, platform }, options.log)
  const wiring = { functions, modules, bindings, platform, apart: apart.addresses }
  const miniflare = openMiniflare({
    cf: false,
    host: '127.0.0.1',
    port: 0,
    log: new Log(LogLevel.ERROR),
    handleStructuredLogs: ({ message }) => options.log(message),
    unsafeTriggerHandlers: true,
    workers: [
      routerWorker(router, functions, options.port),
      ...functions
        .filter((settings) => !runsApart(settings))
        .map((settings) => functionWorker(settings, wiring)),
      worker('egress', egress, newest(functions)),
    ],
  })
  try {
    await miniflare.ready
  } catch (error) {
    await Promise.all([miniflare.dispose(), apart.stop()])
    throw error
  }
  const endSchedules = keepSchedules(miniflare, functions, options)
  const stop = async () => {
    await endSchedules()
    await Promise.all([miniflare.dispose(), apart.stop()])
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

/**
 * Runs each schedule now and again, never twice at once, since Miniflare fires none by itself. Returns a function that
 * ends them.
 */
export function keepSchedules(
  miniflare: Miniflare,
  functions: readonly Pick<FunctionSettings, 'folder' | 'name' | 'crons'>[],
  { log, scheduleSeconds = 60 }: Pick<WorkersOptions, 'log' | 'scheduleSeconds'>,
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
  // The first run is immediate, so that work that an earlier run left open does not wait.
  comeRound()
  const timer = setInterval(comeRound, scheduleSeconds * 1000)
  return async () => {
    clearInterval(timer)
    await running
  }
}

function newest(functions: readonly FunctionSettings[]): string {
  const dates = functions.map(({ compatibilityDate }) => compatibilityDate)
  return dates.toSorted().at(-1) ?? ''
}
