/**
 * A fake of an account at Cloudflare: its workers, their versions and deployments, and the routes of one zone. It
 * keeps what was uploaded, and refuses what the original refuses, in its words and with its codes.
 */
import * as z from 'zod'

/** A refusal, which becomes the answer. */
export class Refusal extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const bindingSchema = z.discriminatedUnion('type', [
  z.strictObject({ name: z.string(), type: z.literal('plain_text'), text: z.string() }),
  z.strictObject({ name: z.string(), type: z.literal('secret_text'), text: z.string().min(1) }),
  z.strictObject({ name: z.string(), type: z.literal('service'), service: z.string() }),
  z.strictObject({ name: z.string(), type: z.literal('inherit') }),
])

/** Metadata of an uploaded worker (developers.cloudflare.com, Multipart upload metadata). */
export const metadataSchema = z.looseObject({
  main_module: z.string(),
  bindings: z.array(bindingSchema).max(128),
  compatibility_date: z.iso.date(),
  compatibility_flags: z.array(z.string()).default([]),
  keep_bindings: z.array(z.string()).default([]),
  limits: z.strictObject({ cpu_ms: z.int().max(300_000) }).optional(),
  annotations: z
    .object({
      'workers/message': z.string().optional(),
      'workers/tag': z.string().max(100).optional(),
    })
    .default({}),
})
type Metadata = z.output<typeof metadataSchema>

/** A binding as the account keeps it. */
export type StoredBinding = Exclude<z.output<typeof bindingSchema>, { type: 'inherit' }>

/** A version of a worker. */
export type Version = {
  id: string
  number: number
  createdOn: string
  modules: Readonly<Record<string, string>>
  bindings: readonly StoredBinding[]
  metadata: Metadata
}

type Deployment = { id: string; createdOn: string; versionId: string }

/** A worker of the account; the first deployment is the present one. */
export type Script = {
  versions: Version[]
  deployments: Deployment[]
  crons: string[]
  isOnWorkersDev: boolean
}

/** A route of the zone. */
export type Route = { id: string; pattern: string; script: string }

const bytesMax = 10 * 1024 * 1024
const textBytesMax = 5 * 1024

/** An account with one zone, and what it keeps. */
export type Account = {
  id: string
  zone: string
  zoneId: string
  scripts: Map<string, Script>
  routes: Route[]
  /** Routes in other zones of the account. */
  elsewhere: Omit<Route, 'id'>[]
  /** Ids and times are numbers in order, so that a run gives the same each time. */
  count: number
}

/** Opens an account without workers. */
export function openAccount(zone: string): Account {
  return {
    id: '1'.repeat(32),
    zone,
    zoneId: '2'.repeat(32),
    scripts: new Map(),
    routes: [],
    elsewhere: [],
    count: 0,
  }
}

function nextId(account: Account): string {
  account.count += 1
  return `00000000-0000-4000-8000-${String(account.count).padStart(12, '0')}`
}

function timeOf({ count }: Account): string {
  return new Date(Date.UTC(2026, 0, 1) + count * 1_000).toISOString()
}

/** Returns a worker. Refuses the name of none. */
export function scriptOf({ scripts }: Account, name: string): Script {
  const found = scripts.get(name)
  if (!found) throw new Refusal(404, 10007, 'This Worker does not exist on your account.')
  return found
}

/** Adds a version, and the worker if there is none. Nothing is kept of what is refused. */
export function addVersion(
  account: Account,
  name: string,
  metadata: Metadata,
  modules: Readonly<Record<string, string>>,
): Version {
  if (!/^[a-z0-9_][a-z0-9-_]{0,62}$/.test(name)) {
    throw new Refusal(400, 10016, `Invalid Worker name: ${name}`)
  }
  if (!(metadata.main_module in modules)) {
    throw new Refusal(400, 10021, `No such module "${metadata.main_module}".`)
  }
  const found = account.scripts.get(name)
  const bindings = boundBy(metadata, found?.versions[0], account)
  const worker = found ?? { versions: [], deployments: [], crons: [], isOnWorkersDev: false }
  const made = { id: nextId(account), createdOn: timeOf(account) }
  const version = { ...made, number: worker.versions.length + 1, modules, bindings, metadata }
  worker.versions.unshift(version)
  account.scripts.set(name, worker)
  return version
}

/** Makes a version the present one. */
export function deploy(account: Account, name: string, versionId: string): Deployment {
  const { versions, deployments } = scriptOf(account, name)
  if (!versions.some(({ id }) => id === versionId)) {
    throw new Refusal(400, 10144, `Version ${versionId} does not exist.`)
  }
  const deployment = { id: nextId(account), createdOn: timeOf(account), versionId }
  deployments.unshift(deployment)
  return deployment
}

/** Removes a worker with its routes. Refuses while another is bound to it, unless it is forced. */
export function remove(account: Account, name: string, isForced: boolean): void {
  scriptOf(account, name)
  const isBound = [...account.scripts].some(
    ([other, script]) =>
      other !== name &&
      activeVersion(script)?.bindings.some((one) => one.type === 'service' && one.service === name),
  )
  if (isBound && !isForced) {
    throw new Refusal(400, 10064, 'This Worker is bound to by other Workers.')
  }
  account.scripts.delete(name)
  account.routes = account.routes.filter(({ script }) => script !== name)
}

/** Adds a route. Refuses one of another zone, and one that there is. */
export function addRoute(account: Account, pattern: string, name: string): Route {
  const { zone } = account
  scriptOf(account, name)
  const [host = ''] = pattern.split('/')
  if (host !== zone && !host.endsWith(`.${zone}`)) {
    throw new Refusal(400, 10022, `Route pattern must include zone name: ${zone}`)
  }
  if (account.routes.some((route) => route.pattern === pattern)) {
    throw new Refusal(409, 10020, 'A route with the same pattern already exists.')
  }
  const route = { id: nextId(account).replaceAll('-', ''), pattern, script: name }
  account.routes.push(route)
  return route
}

/** Replaces all routes of a worker, or none if one is refused. */
export function setRoutes(account: Account, name: string, patterns: readonly string[]): Route[] {
  const before = account.routes
  account.routes = before.filter(({ script }) => script !== name)
  try {
    return patterns.map((pattern) => addRoute(account, pattern, name))
  } catch (error) {
    account.routes = before
    throw error
  }
}

/** Removes a route. */
export function removeRoute(account: Account, id: string): void {
  const left = account.routes.filter((route) => route.id !== id)
  if (left.length === account.routes.length) throw new Refusal(404, 10009, 'Route not found.')
  account.routes = left
}

/** Replaces the schedules of a worker. */
export function setCrons(account: Account, name: string, crons: readonly string[]): void {
  const wrong = crons.find((cron) => cron.split(' ').length !== 5)
  if (wrong !== undefined) throw new Refusal(400, 10100, `invalid cron string: ${wrong}`)
  scriptOf(account, name).crons = [...crons]
}

/** Returns the version that answers requests. */
export function activeVersion({ versions, deployments }: Script): Version | undefined {
  return versions.find(({ id }) => id === deployments[0]?.versionId)
}

/** Refuses modules that are too large together after gzip. */
export function requireSize(gzipBytes: number): void {
  if (gzipBytes > bytesMax) {
    throw new Refusal(413, 10027, 'Your Worker exceeded the size limit of 10 MiB.')
  }
}

/** Returns the bindings of a new version, with those that it takes over from the version before. */
function boundBy(
  { bindings, keep_bindings }: Metadata,
  before: Version | undefined,
  { scripts }: Account,
): StoredBinding[] {
  const bound = new Map<string, StoredBinding>()
  for (const one of before?.bindings ?? []) {
    if (keep_bindings.includes(one.type)) bound.set(one.name, one)
  }
  for (const one of bindings) {
    if (one.type === 'inherit') {
      const inherited = before?.bindings.find(({ name }) => name === one.name)
      if (!inherited) throw new Refusal(400, 10057, `inherit binding '${one.name}' is invalid`)
      bound.set(one.name, inherited)
      continue
    }
    if (one.type === 'service' && !scripts.has(one.service)) {
      const what = `Service binding '${one.name}' references Worker '${one.service}' which was not found.`
      throw new Refusal(400, 10143, what)
    }
    if ('text' in one && Buffer.byteLength(one.text) > textBytesMax) {
      throw new Refusal(400, 10054, `Text binding '${one.name}' exceeded the limit of 5.1 KB.`)
    }
    bound.set(one.name, one)
  }
  return [...bound.values()]
}
