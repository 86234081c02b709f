/** Reads what an account at Cloudflare holds, and restores it, by its API. */
import * as z from 'zod'
import { callPlatform, type Method } from '../platform-api.ts'

/** Access to one account. */
export type Api = { account: { id: string; token: string }; apiUrl: string; signal: AbortSignal }

/** A worker as the account holds it. */
export type HeldWorker = {
  /** Versions that answer requests, and their shares: one, unless somebody splits the traffic. */
  versions: readonly { version_id: string; percentage: number }[]
  /** Tag of the version, if it is one. */
  tag?: string | undefined
  crons: readonly string[]
  routes: readonly HeldRoute[]
}
type HeldRoute = { id: string; pattern: string }

/** Codes for a worker that does not exist. */
const notThere = [10007, 10090]

const answerSchema = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ code: z.int(), message: z.string() })).default([]),
  result: z.unknown(),
})
const deploymentsSchema = z.object({
  deployments: z.array(
    z.object({
      created_on: z.string(),
      versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })),
    }),
  ),
})
const versionSchema = z.object({
  annotations: z.object({ 'workers/tag': z.string().optional() }).default({}),
})
const schedulesSchema = z.object({ schedules: z.array(z.object({ cron: z.string() })) })
const zonesSchema = z.array(z.object({ id: z.string() }))
const routesSchema = z.array(
  z.object({ id: z.string(), pattern: z.string(), script: z.string().nullish() }),
)

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
  { account, apiUrl, signal }: Api,
  path: string,
  result: z.ZodType<Result>,
  init: { method?: Method; body?: object } = {},
): Promise<Result> {
  const { method = 'GET', body } = init
  const access = { url: apiUrl, token: account.token, fetch, signal }
  const answered = await callPlatform(access, method, path, body)
  const answer = answerSchema.safeParse(answered.body)
  if (!answer.success) throw new Error(`Cloudflare answers ${path} with ${answered.status}`)
  if (!answer.data.success) throw new Refused(path, answer.data.errors)
  return result.parse(answer.data.result)
}

function scriptPath({ account }: Api, name: string): string {
  return `/accounts/${account.id}/workers/scripts/${name}`
}

/** Returns the id of the zone that holds a host. Throws if the account has none. */
export async function zoneOf(api: Api, host: string): Promise<string> {
  const labels = host.split('.')
  for (let at = 0; at < labels.length - 1; at += 1) {
    const name = labels.slice(at).join('.')
    const query = new URLSearchParams({ name, 'account.id': api.account.id })
    const [zone] = await call(api, `/zones?${query.toString()}`, zonesSchema)
    if (zone) return zone.id
  }
  throw new Error(
    `No zone of the account holds ${host}: add its domain to Cloudflare, or correct BASE_URL.`,
  )
}

/** Returns the worker of this name; undefined if there is none. */
export async function heldWorker(
  api: Api,
  zone: string,
  name: string,
): Promise<HeldWorker | undefined> {
  const path = scriptPath(api, name)
  const found = await call(api, `${path}/deployments`, deploymentsSchema).catch(
    (error: unknown) => {
      if (error instanceof Refused && error.codes.some((code) => notThere.includes(code))) {
        return undefined
      }
      throw error
    },
  )
  if (!found) return undefined
  const [latest] = found.deployments.toSorted((a, b) => (a.created_on < b.created_on ? 1 : -1))
  const versions = latest?.versions ?? []
  const [version] = versions
  const isWhole = version?.percentage === 100
  const [schedules, routes, described] = await Promise.all([
    call(api, `${path}/schedules`, schedulesSchema),
    call(api, `/zones/${zone}/workers/routes`, routesSchema),
    isWhole && call(api, `${path}/versions/${version.version_id}`, versionSchema),
  ])
  return {
    versions,
    tag: described ? described.annotations['workers/tag'] : undefined,
    crons: schedules.schedules.map(({ cron }) => cron),
    routes: routes.filter(({ script }) => script === name),
  }
}

/** Brings a worker back to what the account held before; one that was not there is removed. */
export async function restoreWorker(
  api: Api,
  zone: string,
  name: string,
  before: HeldWorker | undefined,
): Promise<void> {
  const path = scriptPath(api, name)
  await restoreRoutes(api, zone, name, before?.routes ?? [])
  if (!before) {
    // Workers that are bound to each other could not be removed otherwise.
    await call(api, `${path}?force=true`, z.unknown(), { method: 'DELETE' })
    return
  }
  const schedules = before.crons.map((cron) => ({ cron }))
  await call(api, `${path}/schedules`, z.unknown(), { method: 'PUT', body: schedules })
  const body = {
    strategy: 'percentage',
    versions: before.versions,
    annotations: { 'workers/message': 'Rollback' },
  }
  // Without force, a version from before a secret changed is refused; it brings its own secrets with it.
  await call(api, `${path}/deployments?force=true`, z.unknown(), { method: 'POST', body })
}

/** Removes routes of one zone. */
export async function removeRoutes(
  api: Api,
  zone: string,
  routes: readonly HeldRoute[],
): Promise<void> {
  for (const { id } of routes) {
    const path = `/zones/${zone}/workers/routes/${id}`
    await call(api, path, z.unknown(), { method: 'DELETE' })
  }
}

async function restoreRoutes(
  api: Api,
  zone: string,
  name: string,
  before: readonly HeldRoute[],
): Promise<void> {
  const path = `/zones/${zone}/workers/routes`
  const all = await call(api, path, routesSchema)
  const own = all.filter(({ script }) => script === name)
  const patterns = before.map(({ pattern }) => pattern)
  const others = own.filter(({ pattern }) => !patterns.includes(pattern))
  await removeRoutes(api, zone, others)
  for (const pattern of patterns.filter((one) => !own.some((route) => route.pattern === one))) {
    await call(api, path, z.unknown(), { method: 'POST', body: { pattern, script: name } })
  }
}
