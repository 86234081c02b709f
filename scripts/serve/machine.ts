/**
 * The whole product in one place: PostgreSQL, custody, vault and mail reader in processes of their own, and
 * all other functions in this one behind one port.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { type Endings, together } from '../local/endings.ts'
import type { FunctionSettings } from '../local/functions.ts'
import { startLastingPostgres } from '../local/lasting-postgres.ts'
import { hearLog, openAlarms } from './alarms.ts'
import type { Reached } from './binding.ts'
import { bindingOf } from './binding.ts'
import { hostsOf, textsOf, valuesOf } from './bindings.ts'
import { type Child, startChild } from './children.ts'
import { openDatabaseOf } from './database.ts'
import { openDoor } from './door/open-door.ts'
import type { Relayer } from './owner.ts'
import type { LoadedFunction } from './platform.ts'
import { loadFunction, openPlatform, untracked } from './platform.ts'
import { runProgram } from './program.ts'
import { startSchedules } from './schedules.ts'
import { makeSecrets, readSecrets } from './secrets.ts'
import type { Settings } from './settings.ts'

/** Functions in processes of their own: two hold root keys, one reads what strangers wrote. */
const apart = [
  { folder: 'custody', secrets: 'custody' },
  { folder: 'vault', secrets: 'vault' },
  { folder: 'mail-reader', secrets: undefined },
] as const

/** A running service, and what its operator has to know. */
export type Service = {
  /** True if this start made the secrets. */
  isFirst: boolean
  /** Path of the link that opens the first account; absent once there is one. */
  registration?: string | undefined
  relayers: readonly Relayer[]
  /** Chains on which nothing is signed yet after a restore. */
  behind: readonly string[]
  /** Reads the certificate again. */
  reload: () => void
  /** Resolves with the reason if the service can no longer go on. */
  lost: Promise<string>
}

type Start = {
  settings: Settings
  endings: Endings
  signal: AbortSignal
  say: (line: string) => void
}

/** Starts everything; what was started is in `endings`, also when this rejects. */
export async function startService(start: Start): Promise<Service> {
  const { settings, endings, say } = start
  const { directory } = settings
  mkdirSync(directory, { recursive: true })
  chmodSync(directory, 0o711)
  const isFirst = makeSecrets(directory)
  const modules = join(directory, 'functions')
  const [{ url, lost, ...known }, functions] = await together([
    openPostgres(start),
    runProgram('build-functions', { modules }, settingsSchema),
  ])
  say('functions built')
  const { loaded, database } = await loadAll(start, { functions, modules, databaseAt: atOf(url) })
  const scheduled = loaded.filter(({ loaded: one }) => one.scheduled !== undefined)
  const opening = openDoor(settings, { functions, loaded, database }, say)
  const host = await endings.keep(opening, (one) => one.stop())
  await endings.keep(Promise.resolve(startSchedules(scheduled, say)), (end) => end())
  const mail = await openMail(start, loaded)
  const reload = () => {
    host.reload()
    mail?.reload()
  }
  return { isFirst, lost, reload, ...known }
}

type Loaded = readonly { folder: string; loaded: LoadedFunction }[]

async function openMail({ settings, endings, say }: Start, loaded: Loaded) {
  if (settings.smtpPort === undefined) return undefined
  // Loaded by a service that receives mail only.
  const { startMailOf } = await import('./mail-in.ts')
  const starting = startMailOf(settings, settings.smtpPort, loaded)
  const mail = await endings.keep(starting, (server) => server.stop())
  say(`mail on port ${settings.smtpPort}`)
  return mail
}

const settingsSchema = z.array(
  z.custom<FunctionSettings>((value) => typeof value === 'object' && value !== null),
)
const readySchema = z.object({
  applied: z.int(),
  registration: z.string().optional(),
  relayers: z.array(z.object({ chain: z.string(), address: z.string() })),
  behind: z.array(z.string()),
})

async function openPostgres({ settings, endings, signal, say }: Start) {
  const { directory, databaseUrl } = settings
  const { DATABASE_PASSWORD: password = '' } = readSecrets(directory, 'owner')
  const never = new Promise<string>(() => {})
  const { url, lost } =
    databaseUrl === undefined
      ? await endings.keep(startLastingPostgres({ directory, password, signal, say }), (server) =>
          server.stop(),
        )
      : { url: databaseUrl, lost: never }
  const networks = Object.keys(settings.rpc)
  const input = {
    databaseUrl: url,
    directory,
    networks,
    firstOwner: `owner@${settings.mailDomain}`,
  }
  const { applied, ...known } = await runProgram('ready-database', input, readySchema)
  say(`database ready${applied > 0 ? `, ${applied} migrations applied` : ''}`)
  return { url, lost, ...known }
}

/** Returns the address of a database without a login. */
function atOf(url: string): string {
  const at = new URL(url)
  at.username = ''
  at.password = ''
  return at.href
}

type Building = {
  functions: readonly FunctionSettings[]
  modules: string
  databaseAt: string
}

/** Loads all functions of this process, bound to each other and to the processes of the others. */
async function loadAll({ settings, endings, say }: Start, building: Building) {
  const { functions, modules, databaseAt } = building
  const { directory } = settings
  const values = valuesOf(settings)
  const hosts = hostsOf(settings)
  const hear = settings.alarmUrl === undefined ? () => {} : openAlarms(settings.alarmUrl, say)
  hearLog(hear)
  const children = new Map<string, Child>()
  for (const { folder, secrets } of apart) {
    const one = functions.find((found) => found.folder === folder)
    if (!one) throw new Error(`there is no function ${folder}`)
    // The process adds its secrets itself.
    const vars = textsOf({ ...one, secrets: one.secrets.filter((name) => name in values) }, values)
    const holds = secrets && { secrets, databaseAt }
    const starting = startChild(
      { folder, directory, modules, vars, hosts, ...(holds && { holds }) },
      { say, hear },
    )
    children.set(one.name, await endings.keep(starting, ({ stop }) => stop()))
  }
  openPlatform(hosts)
  const secrets = readSecrets(directory, 'app')
  const opening = openDatabaseOf({ databaseAt, folder: 'app', secrets, modules })
  const opened = await endings.keep(opening, ({ close }) => close())
  const here = functions.filter(({ name }) => !children.has(name))
  const loaded = new Map<string, LoadedFunction>()
  // A binding to a function of this process finds it when it is called, since all load in one go.
  const bindingTo = (service: string): object =>
    children.get(service)?.binding ?? bindingOf(() => reachedIn(loaded.get(service)))
  for (const one of here) {
    const services = one.services.map(({ binding, service }): [string, object] => [
      binding,
      bindingTo(service),
    ])
    const texts = textsOf(one, { ...values, ...secrets })
    const bindings = {
      ...texts,
      ...Object.fromEntries<object>(services),
      DATABASE: opened.database,
    }
    loaded.set(one.name, await loadFunction(modules, one.folder, bindings))
  }
  const found = here.flatMap(({ folder, name }) => {
    const one = loaded.get(name)
    return one ? [{ folder, loaded: one }] : []
  })
  return { loaded: found, database: opened.database }
}

/** Reaches a function of this process, as a service binding does between workers. */
function reachedIn(found: LoadedFunction | undefined): Reached {
  if (!found) throw new Error('the function is not loaded')
  return {
    call: (...called) => found.call(...called),
    fetch: (request) => found.fetch(request, untracked),
  }
}
