/** Reads what an account at Cloudflare holds, and changes it back, by its API. */
import * as z from 'zod'
import { callPlatform, type Method, type PlatformAccess } from '../platform-api.ts'

/** Access to one account. */
export type Api = PlatformAccess & { accountId: string }

/** Form of a worker as the account holds it. */
export const heldWorker = z.object({
  /** Versions that answer requests, and their shares: one, unless somebody splits the traffic. */
  versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })),
  /** Tag of the version, if it is one. */
  tag: z.string().optional(),
  crons: z.array(z.string()),
  /** Patterns of its routes in the zone. */
  routes: z.array(z.string()),
})

/** A worker as the account holds it. */
export type HeldWorker = z.output<typeof heldWorker>

/** Codes for a worker that does not exist. */
const notThere = [10007, 10090]

const answerSchema = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ code: z.int(), message: z.string() })).default([]),
  result: z.unknown(),
})
const deploymentsSchema = z.object({
  deployments: z.array(z.object({ created_on: z.string(), versions: heldWorker.shape.versions })),
})
const versionSchema = z.object({
  annotations: z.object({ 'workers/tag': z.string().optional() }).default({}),
})
const schedulesSchema = z.object({ schedules: z.array(z.object({ cron: z.string() })) })
const scriptsSchema = z.array(z.object({ id: z.string() }))
const zonesSchema = z.array(z.object({ id: z.string() }))
const routesSchema = z.array(
  z.object({ id: z.string(), pattern: z.string(), script: z.string().nullish() }),
)

/** A route of a zone; without a worker, it keeps requests away from workers. */
export type Route = z.output<typeof routesSchema>[number]

/** An answer that says no. */
class Refused extends Error {
  readonly codes: readonly number[]

  constructor(path: string, errors: readonly { code: number; message: string }[]) {
    const words = errors.map(({ code, message }) => `${message} [${code}]`).join('; ')
    const hint = errors.some(({ code }) => code === 10000 || code === 9109)
      ? '. Give a token that may edit Workers Scripts of this account and Workers Routes of its zone'
      : ''
    super(`Cloudflare refuses ${path}: ${words}${hint}`)
    this.codes = errors.map(({ code }) => code)
  }
}

async function call<Result>(
  api: Api,
  path: string,
  result: z.ZodType<Result>,
  init: { method?: Method; body?: object } = {},
): Promise<Result> {
  const { method = 'GET', body } = init
  const answered = await callPlatform(api, method, path, body)
  const answer = answerSchema.safeParse(answered.body)
  if (!answer.success) throw new Error(`Cloudflare answers ${path} with ${answered.status}`)
  if (!answer.data.success) throw new Refused(path, answer.data.errors)
  return result.parse(answer.data.result)
}

function scriptPath({ accountId }: Api, name: string): string {
  return `/accounts/${accountId}/workers/scripts/${name}`
}

/** Returns the id of the zone that holds a host. Throws if the account has none. */
export async function zoneOf(api: Api, host: string): Promise<string> {
  const labels = host.split('.')
  for (let at = 0; at < labels.length - 1; at += 1) {
    const name = labels.slice(at).join('.')
    const query = new URLSearchParams({ name, 'account.id': api.accountId })
    const [zone] = await call(api, `/zones?${query.toString()}`, zonesSchema)
    if (zone) return zone.id
  }
  throw new Error(
    `No zone of the account holds ${host}: add its domain to Cloudflare, or correct BASE_URL.`,
  )
}

/** Returns those of these workers that the account has, however they came there. */
export async function workersAmong(api: Api, names: readonly string[]): Promise<string[]> {
  const all = await call(api, `/accounts/${api.accountId}/workers/scripts`, scriptsSchema)
  return all.map(({ id }) => id).filter((id) => names.includes(id))
}

/** Returns the patterns of a worker's routes in all zones; undefined if the token may not know. */
export async function patternsOf(api: Api, name: string): Promise<string[] | undefined> {
  const path = `/accounts/${api.accountId}/workers/services/${name}/environments/production/routes`
  const read = z
    .object({ result: z.array(z.object({ pattern: z.string() })) })
    .safeParse((await callPlatform(api, 'GET', `${path}?show_zonename=true`)).body)
  return read.data?.result.map(({ pattern }) => pattern)
}

/** Returns the host of a route's pattern. */
export function hostOf(pattern: string): string {
  return pattern.slice(0, `${pattern}/`.indexOf('/'))
}

/** Returns all routes of a zone. */
export function routesIn(api: Api, zone: string): Promise<Route[]> {
  return call(api, `/zones/${zone}/workers/routes`, routesSchema)
}

/** Returns the workers of these names, with their routes in one zone; null for one that does not exist. */
export async function heldWorkers(
  api: Api,
  zone: string,
  names: readonly string[],
): Promise<Record<string, HeldWorker | null>> {
  const routes = await routesIn(api, zone)
  const held: Record<string, HeldWorker | null> = {}
  for (const name of names) {
    const own = routes.filter(({ script }) => script === name).map(({ pattern }) => pattern)
    held[name] = await readWorker(api, name, own)
  }
  return held
}

async function readWorker(api: Api, name: string, routes: string[]): Promise<HeldWorker | null> {
  const path = scriptPath(api, name)
  const found = await call(api, `${path}/deployments`, deploymentsSchema).catch(
    (error: unknown) => {
      if (error instanceof Refused && error.codes.some((code) => notThere.includes(code))) {
        return undefined
      }
      throw error
    },
  )
  if (!found) return null
  const [latest] = found.deployments.toSorted((a, b) => (a.created_on < b.created_on ? 1 : -1))
  const versions = latest?.versions ?? []
  const [version] = versions
  const isWhole = version?.percentage === 100
  const [{ schedules }, described] = await Promise.all([
    call(api, `${path}/schedules`, schedulesSchema),
    isWhole && call(api, `${path}/versions/${version.version_id}`, versionSchema),
  ])
  const tag = described ? described.annotations['workers/tag'] : undefined
  const crons = schedules.map(({ cron }) => cron)
  return { versions, ...(tag !== undefined && { tag }), crons, routes }
}

/** Makes these versions the present ones. */
export async function setVersions(
  api: Api,
  name: string,
  versions: HeldWorker['versions'],
): Promise<void> {
  const annotations = { 'workers/message': 'Rollback' }
  const body = { strategy: 'percentage', versions, annotations }
  // Without force, a version from before a secret changed is refused; it brings its own secrets with it.
  const path = `${scriptPath(api, name)}/deployments?force=true`
  await call(api, path, z.unknown(), { method: 'POST', body })
}

/** Replaces the schedules of a worker. */
export async function setCrons(api: Api, name: string, crons: readonly string[]): Promise<void> {
  const body = crons.map((cron) => ({ cron }))
  await call(api, `${scriptPath(api, name)}/schedules`, z.unknown(), { method: 'PUT', body })
}

/** Removes a worker, even if others are bound to it. */
export async function removeWorker(api: Api, name: string): Promise<void> {
  const path = `${scriptPath(api, name)}?force=true`
  await call(api, path, z.unknown(), { method: 'DELETE' })
}

/** Adds a route of a worker. */
export async function addRoute(
  api: Api,
  zone: string,
  route: { pattern: string; script: string },
): Promise<void> {
  await call(api, `/zones/${zone}/workers/routes`, z.unknown(), { method: 'POST', body: route })
}

/** Removes a route. */
export async function removeRoute(api: Api, zone: string, { id }: Route): Promise<void> {
  await call(api, `/zones/${zone}/workers/routes/${id}`, z.unknown(), { method: 'DELETE' })
}
