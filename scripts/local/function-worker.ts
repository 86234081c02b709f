/** One function as a worker of Miniflare: wired as wrangler.toml says, and what it sends out through egress. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import type { WorkerOptions } from 'miniflare'
import * as z from 'zod'
import type { FunctionSettings } from './functions.ts'
import type { EgressRights } from './workers/egress.ts'

export type Binding = NonNullable<WorkerOptions['config']['env']>[string]

/** Of which functions a worker is one, and what it is made of. */
export type Wiring = {
  functions: readonly FunctionSettings[]
  /** Directory with <function>.mjs. */
  modules: string
  /** A value for every var and secret that wrangler.toml names, unless its own is right here too. */
  bindings: Readonly<Record<string, string>>
  /** Addresses of the workers that run in another process, by name. */
  apart: ReadonlyMap<string, string>
}

export function functionWorker(
  settings: FunctionSettings,
  { functions, modules, bindings, apart }: Wiring,
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
  const { config } = worker(name, code, compatibilityDate)
  return {
    config: {
      ...config,
      compatibilityFlags: [...compatibilityFlags],
      env: fromEntries([...given, ...bound]),
    },
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

export function worker(name: string, contents: string, compatibilityDate: string) {
  const modules = { 'index.mjs': { type: 'esm' as const, contents } }
  const manifest = { mainModule: 'index.mjs', modulesRoot: '/', modules }
  return { config: { name, compatibilityDate, manifest } } satisfies WorkerOptions
}

export function reach(service: string): Binding {
  return { type: 'worker', worker: service }
}

export function fromEntries(
  entries: readonly (readonly [string, Binding])[],
): Record<string, Binding> {
  return Object.fromEntries(entries)
}

export async function readCode(name: 'router' | 'egress'): Promise<string> {
  const text = readFileSync(pathOf(`${name}.ts`), 'utf8')
  return (await transform(text, { loader: 'ts' })).code
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`workers/${name}`, import.meta.url))
}
