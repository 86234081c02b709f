/** Says what a run would change, and what each worker may reach. It changes nothing. */
import { existsSync } from 'node:fs'
import { plannedDatabase } from './database.ts'
import { secretsPath } from './keys.ts'
import { type PlannedWorker, workerNames } from './plan.ts'
import type { Deployment } from './run.ts'
import { findPublishableKey } from './supabase.ts'
import { tokensPath } from './tokens.ts'
import { workersAmong } from './upload/account.ts'
import { valuesFor } from './values.ts'
import { plannedMail } from './zone.ts'

/** Parts of a deployment that a plan reads. */
export type Planned = Pick<
  Deployment,
  'settings' | 'credentials' | 'cloudflare' | 'supabase' | 'workers' | 'say'
>

/** Says everything. Returns the exit code. */
export async function sayPlan(planned: Planned): Promise<number> {
  const { settings, credentials, cloudflare, supabase, workers, say } = planned
  const chains = Object.keys(settings.rpc)
  const database = await plannedDatabase(credentials.databaseUrl, supabase, chains)
  const isKeyed = (await findPublishableKey(supabase)) !== undefined
  const changes = [
    existsSync(secretsPath(settings.file)) ? [] : [`make ${secretsPath(settings.file)}`],
    database,
    existsSync(tokensPath(settings.file))
      ? ['mint the three tokens anew if they end within 90 days']
      : [`import a signing key into ${settings.project}, rotate it in, and mint three tokens`],
    isKeyed ? [] : [`make a publishable key for ${settings.project}`],
  ].flat()
  const values = valuesFor(settings, {}, '')
  const plans = await workers.planned(values, settings.workers, settings.name)
  for (const change of [...changes, ...(await plannedChanges(planned, plans))]) {
    say(`would ${change}`)
  }
  for (const { name } of plans.filter(({ takesMail }) => takesMail)) {
    const todo = await plannedMail(cloudflare, settings, name)
    if (todo !== undefined) say(todo)
  }
  say(`The ${plans.length} workers of this version:`)
  for (const plan of plans) for (const line of describeWorker(plan)) say(line)
  return 0
}

/** Returns what would happen to each worker. One that is there is built and compared only by a run. */
async function plannedChanges(
  { settings, cloudflare }: Planned,
  plans: readonly PlannedWorker[],
): Promise<string[]> {
  const there = await workersAmong(
    { ...cloudflare, accountId: settings.accountId },
    await workerNames(settings.name),
  )
  const names = plans.map(({ name }) => name)
  return [
    ...names.map((name) =>
      there.includes(name) ? `upload ${name} if it differs` : `upload ${name}, which is new`,
    ),
    ...there
      .filter((name) => !names.includes(name))
      .map((name) => `take routes and schedules from the worker ${name}, and remove it`),
  ]
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
