/**
 * The whole product in one place: PostgreSQL, custody, vault and mail reader in processes of their own, and
 * all other functions in this one behind one port.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { startLastingPostgres } from '../local/lasting-postgres.ts'
import { type Endings, together } from '../local/process/endings.ts'
import { hearLog, openAlarms, postTo } from './alarms.ts'
import { hostsOf, valuesOf } from './bindings.ts'
import { openDoor } from './door/open-door.ts'
import { buildAll, type LoadedAll, loadAll } from './load.ts'
import type { Relayer } from './owner.ts'
import { startSchedules } from './platform.ts'
import { runProgram } from './program.ts'
import { makeSecrets, readSecrets, type Settings } from './settings.ts'

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
    buildAll(modules),
  ])
  say('functions built')
  const hear = await openHearing(start)
  hearLog(hear)
  const { loaded, database } = await loadAll({
    functions,
    modules,
    directory,
    databaseUrl: url,
    values: valuesOf(settings),
    hosts: hostsOf(settings),
    endings,
    say,
    hear,
  })
  const opening = openDoor(settings, { functions, loaded, database }, say)
  const host = await endings.keep(opening, (one) => one.stop())
  await endings.keep(Promise.resolve(startSchedules(loaded, say)), (end) => end())
  const mail = await openMail(start, loaded)
  const reload = () => {
    host.reload()
    mail?.reload()
  }
  return { isFirst, lost, reload, ...known }
}

/** Returns who hears the lines of the log: the operator, as far as they are alarms. */
async function openHearing({ settings, say }: Start): Promise<(line: string) => void> {
  const { alarmUrl, alarmMail } = settings
  const ways = alarmUrl === undefined ? [] : [postTo(alarmUrl)]
  if (alarmMail !== undefined) {
    // Loaded by a service that sends alarms only.
    const { mailTo } = await import('./alarm-mail.ts')
    ways.push(mailTo(alarmMail, valuesOf(settings)))
  }
  const hearing = ways.map((tell) => openAlarms(tell, say))
  return (line) => {
    for (const hear of hearing) hear(line)
  }
}

async function openMail({ settings, endings, say }: Start, loaded: LoadedAll['loaded']) {
  if (settings.smtpPort === undefined) return undefined
  // Loaded by a service that receives mail only.
  const { startMailOf } = await import('./mail-in.ts')
  const starting = startMailOf(settings, settings.smtpPort, loaded)
  const mail = await endings.keep(starting, (server) => server.stop())
  say(`mail on port ${settings.smtpPort}`)
  return mail
}

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
