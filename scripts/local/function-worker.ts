/** Makes a Miniflare worker of a function, wired as its settings say; its requests go through egress. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import type { WorkerOptions } from 'miniflare'
import * as z from 'zod'
import type { FunctionSettings } from './functions.ts'
import type { EgressRights } from './workers/egress.ts'

/** A binding of a worker, as Miniflare takes it. */
export type Binding = NonNullable<WorkerOptions['config']['env']>[string]

/** The parts that a worker is made of, and the functions that it is one of. */
export type Wiring = {
  functions: readonly FunctionSettings[]
  /** Directory that holds <function>.mjs. */
  modules: string
  /** Values for the vars and secrets of the functions; a var without one keeps its own value. */
  bindings: Readonly<Record<string, string>>
  /** Code of the module around each function. */
  platform: string
  /** Addresses of the workers that run in other processes, by name. */
  apart: ReadonlyMap<string, string>
}

/** Returns the worker of a function. Throws if a binding or a service is missing. */
export function functionWorker(
  settings: FunctionSettings,
  { functions, modules, bindings, apart, platform }: Wiring,
): WorkerOptions {
  const { folder, name, vars, secrets, services, compatibilityDate, compatibilityFlags } = settings
  const texts: Record<string, string> = {}
  for (const key of [...Object.keys(vars), ...secrets]) {
    const value = bindings[key] ?? vars[key]
    if (value === undefined) throw new Error(`${folder} needs ${key}`)
    texts[key] = value
  }
  const bound = services.map(({ binding, service }): [string, Binding] => {
    if (!functions.some((other) => other.name === service)) throw new Error(`no ${service}`)
    const address = apart.get(service)
    return [
      binding,
      address === undefined ? reach(service) : { type: 'external', address, http: {} },
    ]
  })
  const given = Object.entries(texts).map(([key, value]): [string, Binding] => [
    key,
    { type: 'text', value },
  ])
  const code = readFileSync(join(modules, `${folder}.mjs`), 'utf8')
  const { config } = worker(name, platform, compatibilityDate)
  Object.assign(config.manifest.modules, { 'function.mjs': { type: 'esm', contents: code } })
  return {
    config: {
      ...config,
      compatibilityFlags: [...compatibilityFlags, 'nodejs_als'],
      env: fromEntries([...given, ...bound]),
    },
    dev: {
      outboundService: { type: 'worker', worker: 'egress', props: egressRights(folder, texts) },
    },
  }
}

const endpoints = z.record(z.string(), z.array(z.url()))

/**
 * Allows a function the addresses that it is bound to. Only x402, the vault, the pages and the mailer reach
 * strangers: the pages look up apps at the apps' own addresses, and the mailer the push services of browsers.
 */
function egressRights(folder: string, texts: Readonly<Record<string, string>>): EgressRights {
  const { SUPABASE_URL, MAIL_URL, SANDBOX_FACILITATOR_URL, CHAIN_RPC_URLS = '{}' } = texts
  const chains = Object.values(endpoints.parse(JSON.parse(CHAIN_RPC_URLS))).flat()
  const bound = [SUPABASE_URL, MAIL_URL, SANDBOX_FACILITATOR_URL, ...chains].flatMap((url) =>
    url ? [new URL(url)] : [],
  )
  const hostsOf = (protocol: RegExp) =>
    bound.filter((url) => protocol.test(url.protocol)).map(({ host }) => host)
  return {
    hosts: hostsOf(/^https?:$/),
    sockets: hostsOf(/^smtp:$/),
    strangers: folder.startsWith('x402-') || ['mailer', 'vault', 'web'].includes(folder),
  }
}

/** Returns a worker that consists of one module. */
export function worker(name: string, contents: string, compatibilityDate: string) {
  const modules = { 'index.mjs': { type: 'esm' as const, contents } }
  const manifest = { mainModule: 'index.mjs', modulesRoot: '/', modules }
  return { config: { name, compatibilityDate, manifest } } satisfies WorkerOptions
}

/** Returns a binding to another worker of the same process. */
export function reach(service: string): Binding {
  return { type: 'worker', worker: service }
}

/** Collects bindings by name. */
export function fromEntries(
  entries: readonly (readonly [string, Binding])[],
): Record<string, Binding> {
  return Object.fromEntries(entries)
}

/** Returns the JavaScript of a module that the local world adds. */
export async function readCode(name: 'router' | 'egress' | 'platform'): Promise<string> {
  const path = fileURLToPath(new URL(`workers/${name}.ts`, import.meta.url))
  return (await transform(readFileSync(path, 'utf8'), { loader: 'ts' })).code
}
