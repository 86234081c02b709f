/**
 * Uploads the workers of a deployment with wrangler, each with its own secrets, in the order of the plan. A worker
 * whose code, bindings and secrets are deployed already is left alone, so a run that was interrupted is repeated.
 */
import { createHash, createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlannedWorker } from './plan.ts'
import {
  type Api,
  type HeldWorker,
  heldWorker,
  removeRoutes,
  restoreWorker,
  zoneOf,
} from './upload/account.ts'
import { type Deploying, deployWorker } from './upload/wrangler.ts'

/** Workers to upload, and the account that they go to. */
export type Upload = {
  /** Workers in the order of plannedWorkers. */
  plans: readonly PlannedWorker[]
  /** Directory of the built modules. */
  modules: string
  /** Returns the value of a secret; empty if there is none. */
  secrets: (name: string) => string
  account: { id: string; token: string }
  /** Address of the API, such as https://api.cloudflare.com/client/v4 */
  apiUrl: string
  /** Receives progress, one line at a time. */
  say: (line: string) => void
  signal: AbortSignal
}

/** Outcome of an upload, by names of workers. */
export type Uploaded = {
  uploaded: string[]
  kept: string[]
  /** Makes the versions, routes and schedules of before the present ones, and removes workers that are new. */
  rollback: () => Promise<void>
}

/** Uploads what differs. Throws before anything is uploaded if a secret has no value or the host no zone. */
export async function uploadWorkers(upload: Upload): Promise<Uploaded> {
  const { plans, account, apiUrl, say, signal } = upload
  const api = { account, apiUrl, signal }
  const wanted = plans.map((worker) => wantedOf(worker, upload))
  const host = plans.flatMap(({ routes }) => routes)[0]?.split('/')[0]
  if (host === undefined) throw new Error('none of the workers has a route')
  const zone = await zoneOf(api, host)
  const before = new Map<string, HeldWorker | undefined>()
  for (const { name } of plans) before.set(name, await heldWorker(api, zone, name))
  await removeLostRoutes(api, zone, plans, before)
  const changed = wanted.filter((one) => !isHeld(one, before.get(one.worker.name)))
  const uploaded = changed.map(({ worker }) => worker.name)
  const kept = plans.map(({ name }) => name).filter((name) => !uploaded.includes(name))
  for (const name of kept) say(`${name}: unchanged`)
  const there = new Set(plans.flatMap(({ name }) => (before.get(name) ? [name] : [])))
  for (const one of changed) {
    await holdPlaces(api, one.worker, upload, there)
    say(`${one.worker.name}: uploading`)
    await deployWorker(api, one)
    there.add(one.worker.name)
  }
  const rollback = async () => {
    // It may be what follows an interruption, which must not end it as well.
    const restoring = { ...api, signal: new AbortController().signal }
    for (const name of uploaded.toReversed()) {
      say(`${name}: back to what it was`)
      await restoreWorker(restoring, zone, name, before.get(name))
    }
  }
  return { uploaded, kept, rollback }
}

/** Removes routes that workers lose: others may get them, and wrangler leaves a worker its last one. */
async function removeLostRoutes(
  api: Api,
  zone: string,
  plans: readonly PlannedWorker[],
  before: ReadonlyMap<string, HeldWorker | undefined>,
): Promise<void> {
  for (const { name, routes } of plans) {
    const held = before.get(name)?.routes ?? []
    const lost = held.filter(({ pattern }) => !routes.includes(pattern))
    await removeRoutes(api, zone, lost)
  }
}

/** Uploads an empty worker for each that the worker is bound to and that is not there yet. */
async function holdPlaces(
  api: Api,
  { name, services }: PlannedWorker,
  { plans, say }: Upload,
  there: Set<string>,
): Promise<void> {
  const called = services.map(({ service }) => service)
  for (const other of plans.filter((plan) => called.includes(plan.name))) {
    if (there.has(other.name)) continue
    say(`${other.name}: an empty worker holds its place for ${name}`)
    await deployEmpty(api, other)
    there.add(other.name)
  }
}

function wantedOf(worker: PlannedWorker, { modules, secrets, account }: Upload): Deploying {
  const file = join(modules, `${worker.module}.mjs`)
  const values = Object.fromEntries(worker.secrets.map((name) => [name, secrets(name)]))
  const missing = worker.secrets.filter((name) => !values[name])
  if (missing.length > 0) throw new Error(`${worker.name} needs ${missing.join()}: give it a value`)
  if (!existsSync(file)) throw new Error(`${file} is missing: run npm run build`)
  const code = createHash('sha256').update(readFileSync(file)).digest('hex')
  const { functions: _, ...plan } = worker
  // Keyed with the token: without it, nobody can try secrets against the tag.
  const tag = createHmac('sha256', account.token)
    .update(JSON.stringify({ code, plan, values }))
    .digest('hex')
  return { worker, file, secrets: values, tag }
}

function isHeld({ worker, tag }: Deploying, held: HeldWorker | undefined): boolean {
  const patterns = held?.routes.map(({ pattern }) => pattern)
  return (
    held?.tag === tag && isSame(held.crons, worker.crons) && isSame(patterns ?? [], worker.routes)
  )
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join('\n') === others.toSorted().join('\n')
}

/** Answers nobody. A worker without a route is called by other workers alone. */
const emptyModule = 'export default { fetch: () => new Response(null, { status: 503 }) }\n'

/** Uploads a worker that does nothing, so that others can be bound to it. */
async function deployEmpty(api: Api, planned: PlannedWorker): Promise<void> {
  const nothing = { routes: [], crons: [], services: [], secrets: [], vars: {} }
  const directory = mkdtempSync(join(tmpdir(), 'aoa-empty-'))
  try {
    const file = join(directory, 'index.mjs')
    writeFileSync(file, emptyModule)
    const worker = { ...planned, ...nothing }
    await deployWorker(api, { worker, file, secrets: {}, tag: 'empty' })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
