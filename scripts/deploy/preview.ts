/** Says what a run would change, and what each worker may reach. It changes nothing. */
import { existsSync } from 'node:fs'
import { plannedDatabase } from './database.ts'
import { secretsPath } from './keys.ts'
import type { PlannedWorker } from './plan.ts'
import type { Deployment } from './run.ts'
import { tokensPath } from './tokens.ts'
import { workersOf } from './upload/account.ts'
import { valuesFor } from './values.ts'

/** Parts of a deployment that a plan reads. */
export type Planned = Pick<
  Deployment,
  'settings' | 'credentials' | 'cloudflare' | 'supabase' | 'workers' | 'say'
>

/** Says everything. Returns the exit code. */
export async function sayPlan(planned: Planned): Promise<number> {
  const { settings, credentials, supabase, workers, say } = planned
  const { pending, isExposed } = await plannedDatabase(credentials.databaseUrl, supabase)
  const changes = [
    existsSync(secretsPath(settings.file)) ? [] : [`make ${secretsPath(settings.file)}`],
    pending.map((version) => `apply the migration ${version}`),
    isExposed ? [] : [`expose the schema api of ${settings.project}`],
    existsSync(tokensPath(settings.file))
      ? []
      : [`import a signing key into ${settings.project}, rotate it in, and mint three tokens`],
    Object.keys(settings.rpc).map((chain) => `open a relayer on ${chain} if it has none`),
  ].flat()
  for (const change of changes) say(`would ${change}`)
  const values = valuesFor(settings, {}, '')
  const plans = await workers.planned(values, settings.workers, settings.name)
  for (const name of await oldWorkers(planned, plans)) {
    say(`would take routes and schedules from the worker ${name}, and remove it`)
  }
  say(`would upload those of ${plans.length} workers that differ:`)
  for (const plan of plans) for (const line of describeWorker(plan)) say(line)
  return 0
}

async function oldWorkers(
  { settings, cloudflare }: Planned,
  plans: readonly PlannedWorker[],
): Promise<string[]> {
  const api = { ...cloudflare, accountId: settings.accountId }
  const names = plans.map(({ name }) => name)
  return (await workersOf(api, settings.name)).filter((name) => !names.includes(name))
}

function describeWorker(plan: PlannedWorker): string[] {
  const { name, folders, prefixes, vars, secrets, services, crons, takesMail } = plan
  const hosts = Object.values(vars).flatMap((value) => hostIn(value) ?? [])
  const called = services.map(({ binding, service }) => `${binding} (${service})`)
  const from = [...prefixes, ...crons.map((cron) => `cron ${cron}`), ...(takesMail ? ['mail'] : [])]
  const parts: readonly [string, readonly string[]][] = [
    ['functions', folders],
    ['called by', from],
    ['calls', called],
    ['hosts in its vars', [...new Set(hosts)]],
    ['secrets', secrets],
  ]
  return [
    name,
    ...parts.map(([what, list]) => `  ${what}: ${list.length > 0 ? list.join(', ') : 'none'}`),
  ]
}

function hostIn(value: string): string | undefined {
  return /^[a-z]+:\/\//.test(value) && URL.canParse(value) ? new URL(value).host : undefined
}
