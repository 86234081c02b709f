/** Uploads of small modules to the fake of Cloudflare. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plannedWorkers } from '../../../scripts/deploy/plan.ts'
import type { Api } from '../../../scripts/deploy/upload/account.ts'
import { type Upload, type Uploaded, uploadWorkers } from '../../../scripts/deploy/upload.ts'
import { atEnd } from '../ending.ts'
import { activeVersion } from './account.ts'
import type { Cloudflare } from './cloudflare.ts'

export const plans = await plannedWorkers({}, 'few')
export const names = plans.map(({ name }) => name)

/** Returns a directory with a small module for each worker. */
export function smallModules(): string {
  const modules = mkdtempSync(join(tmpdir(), 'aoa-modules-'))
  atEnd(() => rmSync(modules, { recursive: true, force: true }))
  for (const { module } of plans) writeModule(modules, module, 'first')
  return modules
}

/** Writes the module of a worker, which answers with this word. */
export function writeModule(modules: string, module: string, word: string): void {
  const code = `export default { fetch: () => new Response('${word}') }\n`
  writeFileSync(join(modules, `${module}.mjs`), code)
}

/** Returns the value of a secret. */
export function secretOf(name: string): string {
  return `the secret value of ${name}`
}

/** Returns the access to the account of the fake. */
export function accessTo({ account, token, url }: Cloudflare, signal?: AbortSignal): Api {
  const { signal: never } = new AbortController()
  return { url, token, accountId: account.id, fetch, signal: signal ?? never }
}

const folders = new WeakMap<Cloudflare, string>()

/** Returns the file that keeps what the fake held before. */
export function beforeOf(cloudflare: Cloudflare): string {
  const known = folders.get(cloudflare)
  const folder = known ?? mkdtempSync(join(tmpdir(), 'aoa-before-'))
  if (known === undefined) atEnd(() => rmSync(folder, { recursive: true, force: true }))
  folders.set(cloudflare, folder)
  return join(folder, 'before.json')
}

/** Uploads to the fake; what is not given is as in every test. */
export function uploadTo(
  cloudflare: Cloudflare,
  modules: string,
  { signal, api, ...changed }: Partial<Upload> & { signal?: AbortSignal } = {},
): { done: Promise<Uploaded>; lines: string[] } {
  const lines: string[] = []
  const done = uploadWorkers({
    plans,
    // Of a part of the plans, the others are no old workers.
    name: changed.plans ? 'part' : 'aoa',
    modules,
    secrets: secretOf,
    api: api ?? accessTo(cloudflare, signal),
    before: beforeOf(cloudflare),
    say: (line) => lines.push(line),
    ...changed,
  })
  return { done, lines }
}

/** Returns what the account answers with: code, bindings, routes and schedules. */
export function stateOf({ account }: Cloudflare) {
  const workers = [...account.scripts].map(([name, script]) => {
    const version = activeVersion(script)
    const bindings = version?.bindings.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return { name, modules: version?.modules, bindings, crons: script.crons }
  })
  const routes = account.routes.map(({ pattern, script }) => `${pattern} ${script}`)
  return {
    workers: workers.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    routes: routes.toSorted(),
  }
}
