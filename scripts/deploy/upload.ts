/**
 * Uploads the workers of a deployment with wrangler, each with its own secrets, in the order of the plan. A worker
 * whose code, bindings and secrets are deployed already is left alone, so a run that was interrupted is repeated.
 */
import { createHash, createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PlannedWorker, workerNames } from './plan.ts'
import {
  type Api,
  type HeldWorker,
  heldWorkers,
  hostOf,
  removeRoute,
  routesIn,
  setCrons,
  workersAmong,
  zoneOf,
} from './upload/account.ts'
import { keepBefore } from './upload/before.ts'
import { type Deploying, deployWorker } from './upload/wrangler.ts'

/** Workers to upload, and the account that they go to. */
export type Upload = {
  /** Workers in the order of plannedWorkers. */
  plans: readonly PlannedWorker[]
  /** Name of the deployment, which begins those of its workers. */
  name: string
  /** Directory of the built modules. */
  modules: string
  /** Returns the value of a secret; empty if there is none. */
  secrets: (name: string) => string
  api: Api
  /** File that keeps the workers of before. */
  before: string
  /** Receives progress, one line at a time. */
  say: (line: string) => void
  /** Uploads one worker; only tests replace wrangler, by its own requests. */
  deploy?: typeof deployWorker
}

/** Outcome of an upload, by names of workers. */
export type Uploaded = {
  uploaded: string[]
  kept: string[]
  /** Workers of the deployment that the plan does not have; they are asked for nothing any more. */
  old: string[]
}

/** Uploads what differs. Throws before anything is uploaded if a secret has no value or the host no zone. */
export async function uploadWorkers(upload: Upload): Promise<Uploaded> {
  const { plans, name: deploymentName, api, before, say, deploy = deployWorker } = upload
  const wanted = plans.map((worker) => wantedOf(worker, upload))
  const host = plans.flatMap(({ routes }) => routes).map(hostOf)[0]
  if (host === undefined) throw new Error('none of the workers has a route')
  const zone = await zoneOf(api, host)
  const names = plans.map(({ name }) => name)
  const possible = await workerNames(deploymentName)
  const old = (await workersAmong(api, possible)).filter((name) => !names.includes(name))
  const held = await heldWorkers(api, zone, [...names, ...old])
  const changed = wanted.filter((one) => !isHeld(one, held[one.worker.name] ?? null))
  const uploaded = changed.map(({ worker }) => worker.name)
  const kept = names.filter((name) => !uploaded.includes(name))
  for (const name of kept) say(`${name}: unchanged`)
  const asked = old.filter((name) => isAsked(held[name] ?? null, host))
  if (changed.length + asked.length > 0) keepBefore(before, { zone, workers: held })
  const planned = new Set(plans.flatMap(({ routes }) => routes))
  await removeLostRoutes(api, zone, { ...upload, old, isLost: (pattern) => planned.has(pattern) })
  const there = new Set(names.filter((name) => held[name]))
  for (const one of changed) {
    await holdPlaces(one.worker, upload, there)
    say(`${one.worker.name}: uploading`)
    await deploy(api, one)
    there.add(one.worker.name)
  }
  await removeLostRoutes(api, zone, { ...upload, old, isLost: (one) => hostOf(one) === host })
  for (const name of asked) {
    say(`${name}: gets no requests any more`)
    await setCrons(api, name, [])
  }
  return { uploaded, kept, old }
}

/** Returns true if a worker gets requests for the host, or runs by itself. */
function isAsked(held: HeldWorker | null, host: string): boolean {
  if (!held) return false
  return held.crons.length > 0 || held.routes.some((pattern) => hostOf(pattern) === host)
}

type Losing = Pick<Upload, 'plans'> & {
  old: readonly string[]
  isLost: (pattern: string) => boolean
}

/**
 * Removes routes that workers lose. Those that others get have to go before these are uploaded; all others stay
 * until then, so that requests are answered meanwhile.
 */
async function removeLostRoutes(
  api: Api,
  zone: string,
  { plans, old, isLost }: Losing,
): Promise<void> {
  const none: readonly string[] = []
  const planned = new Map([
    ...old.map((name) => [name, none] as const),
    ...plans.map(({ name, routes }) => [name, routes] as const),
  ])
  for (const route of await routesIn(api, zone)) {
    const patterns = planned.get(route.script ?? '')
    if (!patterns || patterns.includes(route.pattern) || !isLost(route.pattern)) continue
    await removeRoute(api, zone, route)
  }
}

/** Uploads an empty worker for each that the worker is bound to and that is not there yet. */
async function holdPlaces(
  { name, services }: PlannedWorker,
  { plans, api, say, deploy = deployWorker }: Upload,
  there: Set<string>,
): Promise<void> {
  const called = services.map(({ service }) => service)
  for (const other of plans.filter((plan) => called.includes(plan.name))) {
    if (there.has(other.name)) continue
    say(`${other.name}: an empty worker holds its place for ${name}`)
    await deployEmpty(other, (empty) => deploy(api, empty))
    there.add(other.name)
  }
}

function wantedOf(worker: PlannedWorker, { modules, secrets }: Upload): Deploying {
  const file = join(modules, `${worker.module}.mjs`)
  const values = Object.fromEntries(worker.secrets.map((name) => [name, secrets(name)]))
  const missing = worker.secrets.filter((name) => !values[name])
  if (missing.length > 0) throw new Error(`${worker.name} needs ${missing.join()}: give it a value`)
  if (!existsSync(file)) throw new Error(`${file} is missing: run npm run build`)
  const code = createHash('sha256').update(readFileSync(file)).digest('hex')
  const { functions: _, ...plan } = worker
  // Keyed with a secret that stays: without it, nobody can try secrets against the tag.
  const tag = createHmac('sha256', `tags of workers ${secrets('API_KEY_PEPPER')}`)
    .update(JSON.stringify({ code, plan, values }))
    .digest('hex')
  return { worker, file, secrets: values, tag }
}

function isHeld({ worker, tag }: Deploying, held: HeldWorker | null): boolean {
  return held?.tag === tag && isSame(held.crons, worker.crons) && isSame(held.routes, worker.routes)
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join('\n') === others.toSorted().join('\n')
}

/** Answers nobody. A worker without a route is called by other workers alone. */
const emptyModule = 'export default { fetch: () => new Response(null, { status: 503 }) }\n'

/** Uploads a worker that does nothing, so that others can be bound to it. */
async function deployEmpty(
  planned: PlannedWorker,
  deploy: (empty: Deploying) => Promise<void>,
): Promise<void> {
  const nothing = { routes: [], crons: [], services: [], secrets: [], vars: {} }
  const directory = mkdtempSync(join(tmpdir(), 'aoa-empty-'))
  try {
    const file = join(directory, 'index.mjs')
    writeFileSync(file, emptyModule)
    const worker = { ...planned, ...nothing }
    await deploy({ worker, file, secrets: {}, tag: 'empty' })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
