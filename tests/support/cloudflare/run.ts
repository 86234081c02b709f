/** Runs what an account at the fake of Cloudflare holds: its present modules, bindings, routes and schedules. */
import { Log, LogLevel, type WorkerOptions } from 'miniflare'
import {
  type Binding,
  fromEntries,
  reach,
  readCode,
  worker,
} from '../../../scripts/local/function-worker.ts'
import { openMiniflare } from '../../../scripts/local/miniflare.ts'
import { keepSchedules } from '../../../scripts/local/workers.ts'
import { type Account, activeVersion, type Script, type Version } from './account.ts'

type Envelope = { from: string; to: string }

/** Workers of an account, running. */
export type Running = {
  url: string
  /** Hands a mail to the one worker that takes mails, as Email Routing does. */
  email: (name: string, envelope: Envelope, raw: string) => Promise<unknown>
  stop: () => Promise<void>
}

/** Starts the workers behind a router that listens on this port. */
export async function runAccount(
  account: Account,
  port: number,
  log: (line: string) => void,
): Promise<Running> {
  const scripts = [...account.scripts]
  const versions = scripts.map(([name, script]) => [name, versionOf(name, script)] as const)
  const miniflare = openMiniflare({
    cf: false,
    host: '127.0.0.1',
    port: 0,
    log: new Log(LogLevel.ERROR),
    handleStructuredLogs: ({ message }) => log(message),
    unsafeTriggerHandlers: true,
    workers: [
      await routerWorker(account, port),
      ...versions.map(([name, version]) => deployedWorker(name, version)),
    ],
  })
  await miniflare.ready.catch(async (error: unknown) => {
    await miniflare.dispose()
    throw error
  })
  const scheduled = scripts.map(([name, { crons }]) => ({ folder: name, name, crons }))
  const endSchedules = keepSchedules(miniflare, scheduled, { log })
  const email: Running['email'] = async (name, envelope, body) => {
    const query = new URLSearchParams({ format: 'json', ...envelope })
    const headers = { 'MF-Route-Override': name }
    const url = `http://localhost/cdn-cgi/local/email?${query.toString()}`
    return (await miniflare.dispatchFetch(url, { method: 'POST', body, headers })).json()
  }
  const stop = async () => {
    await endSchedules()
    await miniflare.dispose()
  }
  return { url: `http://127.0.0.1:${port}`, email, stop }
}

function versionOf(name: string, script: Script): Version {
  const version = activeVersion(script)
  if (!version) throw new Error(`${name} has no deployment`)
  return version
}

function deployedWorker(name: string, { modules, metadata, bindings }: Version): WorkerOptions {
  const { main_module: main, compatibility_date, compatibility_flags } = metadata
  const { config } = worker(name, modules[main] ?? '', compatibility_date)
  const env = bindings.map((one): [string, Binding] => [
    one.name,
    one.type === 'service' ? reach(one.service) : { type: 'text', value: one.text },
  ])
  return {
    config: { ...config, compatibilityFlags: compatibility_flags, env: fromEntries(env) },
  }
}

/** Of the patterns that match, the most specific decides. */
async function routerWorker({ routes }: Account, port: number): Promise<WorkerOptions> {
  const prefixes = routes
    .map(({ pattern, script }) => [pattern.slice(pattern.indexOf('/'), -1), script])
    .toSorted(([one = ''], [other = '']) => other.length - one.length)
  const targets = routes.map(({ script }): [string, Binding] => [script, reach(script)])
  const { config } = worker('router', await readCode('router'), '2026-10-20')
  return {
    config: {
      ...config,
      env: { ROUTES: { type: 'json', value: prefixes }, ...fromEntries(targets) },
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port }] },
  }
}
