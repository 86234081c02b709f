/** Looks for workers in the account that have the names of this deployment and are those of another one. */
import { existsSync } from 'node:fs'
import { type Finding, unknown, well, wrong } from './finding.ts'
import { workerNames } from './plan.ts'
import type { PlatformAccess } from './platform-api.ts'
import type { DeploySettings } from './settings.ts'
import { tokensPath } from './tokens.ts'
import { type Api, hostOf, patternsOf, routesIn, workersAmong } from './upload/account.ts'
import { findZone } from './zone.ts'

/** Returns the findings about the workers that a deployment would change or remove. */
export async function checkWorkers(
  access: PlatformAccess,
  settings: DeploySettings,
): Promise<Finding[]> {
  const { name, baseUrl, accountId } = settings
  const zone = await findZone(access, settings.zone)
  // The other looks name what is missing.
  if (!zone) return []
  try {
    const { others, isWhole, isThere } = await hostsOf({ ...access, accountId }, zone.id, settings)
    const [host] = others.filter((one) => one !== new URL(baseUrl).hostname)
    if (host !== undefined) {
      return [
        wrong(
          `workers named ${name}- answer at ${host}: give this deployment another name, or, if it has moved, remove their routes there in the dashboard`,
        ),
      ]
    }
    if (!isWhole && isThere && !existsSync(tokensPath(settings.file))) {
      return [
        wrong(
          `workers named ${name}- are there, ${settings.file} has not made them, and this token may not see whose they are: choose another name`,
        ),
      ]
    }
    return isWhole
      ? [well(`workers named ${name}- answer nowhere else`)]
      : [unknown(`routes in other zones are not shown: no other deployment may be named ${name}`)]
  } catch (error) {
    access.signal.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    return [unknown(`workers named ${name}- cannot be looked at: ${reason}`)]
  }
}

/** Returns the hosts at which the workers answer, and whether all zones could be looked at and any of them is there. */
async function hostsOf(api: Api, zone: string, { name }: DeploySettings) {
  const names = await workersAmong(api, await workerNames(name))
  const inZone = (await routesIn(api, zone)).filter(({ script }) => names.includes(script ?? ''))
  const patterns = inZone.map(({ pattern }) => pattern)
  let isWhole = true
  for (const worker of names) {
    const found = await patternsOf(api, worker)
    if (!found) isWhole = false
    patterns.push(...(found ?? []))
  }
  return { others: patterns.map(hostOf), isWhole, isThere: names.length > 0 }
}
