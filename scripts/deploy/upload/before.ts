/**
 * The workers of before a deployment, in a file beside the settings: it is written before the first change and
 * removed once the service was found well, or is as before. So a run that was killed can be taken back too. It
 * holds names, versions, schedules and routes, and no secret.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import * as z from 'zod'
import { writeWhole } from '../../program/write-whole.ts'
import {
  type Api,
  addRoute,
  type HeldWorker,
  heldWorker,
  heldWorkers,
  removeRoute,
  removeWorker,
  routesIn,
  setCrons,
  setVersions,
} from './account.ts'

const beforeSchema = z.object({
  /** Zone of the routes. */
  zone: z.string(),
  /** By name; null for one that did not exist. */
  workers: z.record(z.string(), heldWorker.nullable()),
})

/** Workers of before a deployment. */
export type Before = z.output<typeof beforeSchema>

/** Returns the path of the file. */
export function beforePath(settingsFile: string): string {
  return `${settingsFile}.before.json`
}

/** Returns true while a deployment has begun to change workers and has not ended. */
export function isUnfinished(path: string): boolean {
  return existsSync(path)
}

/** Keeps what the account holds now. What a run before, that did not end, has kept stays the truth. */
export function keepBefore(path: string, now: Before): void {
  const known = existsSync(path) ? readBefore(path) : undefined
  const whole = { ...now, ...known, workers: { ...now.workers, ...known?.workers } }
  writeWhole(path, JSON.stringify(whole, undefined, 2), 0o600)
}

function readBefore(path: string): Before {
  return beforeSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** Ends the deployment: what is there now stays. */
export function forgetBefore(path: string): void {
  rmSync(path, { force: true })
}

/**
 * Brings back every worker that differs from the file. What the platform refuses is said, and the others go on.
 * Returns true if everything is as before; then the file is gone.
 */
export async function rollBack(
  api: Api,
  path: string,
  say: (line: string) => void,
): Promise<boolean> {
  const { zone, workers } = readBefore(path)
  let isWhole = true
  const attempt = async (what: string, work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      api.signal.throwIfAborted()
      isWhole = false
      say(`  WRONG ${what}: ${error instanceof Error ? error.message : String(error)}`)
    })
  }
  await attempt('the account', async () => {
    const now = await heldWorkers(api, zone, Object.keys(workers))
    const differing = Object.entries(workers).filter(([name, held]) => !isKept(held, now[name]))
    for (const [name, held] of differing.toReversed()) {
      say(`${name}: back to what it was`)
      if (!held) continue
      if (JSON.stringify(held.versions) !== JSON.stringify(now[name]?.versions)) {
        await attempt(name, () => setVersions(api, name, held.versions))
      }
      await attempt(name, () => setCrons(api, name, held.crons))
    }
    await restoreRoutes(api, { zone, workers }, attempt)
    // Others may be bound to a new worker until they are as before.
    for (const [name, held] of differing) {
      if (!held) await attempt(name, () => removeWorker(api, name))
    }
  })
  if (isWhole) forgetBefore(path)
  return isWhole
}

function isKept(before: HeldWorker | null, now: HeldWorker | null | undefined): boolean {
  const formOf = (held: HeldWorker | null | undefined) =>
    held && [held.versions, held.crons.toSorted(), held.routes.toSorted()]
  return JSON.stringify(formOf(before)) === JSON.stringify(formOf(now))
}

/** Removes the new routes first, because a pattern belongs to one worker at a time. */
async function restoreRoutes(
  api: Api,
  { zone, workers }: Before,
  attempt: (what: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const routes = await routesIn(api, zone)
  const ofBefore = (script: string) => workers[script]?.routes ?? []
  for (const route of routes) {
    const { script, pattern } = route
    if (!script || !(script in workers) || ofBefore(script).includes(pattern)) continue
    await attempt(`${script} ${pattern}`, () => removeRoute(api, zone, route))
  }
  for (const script of Object.keys(workers)) {
    const there = routes.filter((route) => route.script === script).map(({ pattern }) => pattern)
    for (const pattern of ofBefore(script).filter((one) => !there.includes(one))) {
      await attempt(`${script} ${pattern}`, () => addRoute(api, zone, { pattern, script }))
    }
  }
}
