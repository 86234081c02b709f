/** Runs every built function on Node, as `npm run serve` does, in place of the workers of Miniflare. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openLogins } from '../serve/database.ts'
import { openDoor } from '../serve/door/open-door.ts'
import { clientHeader } from '../serve/host.ts'
import { buildAll, loadAll } from '../serve/load.ts'
import { asOwner } from '../serve/owner.ts'
import { startSchedules } from '../serve/platform.ts'
import { makeSecrets } from '../serve/settings.ts'
import type { FunctionSettings } from './functions.ts'
import type { Endings } from './process/endings.ts'

/** Sites of the local world, which are strangers on this machine. */
const loopback = ['127.0.0.1', 'localhost', '[::1]']

/** Returns the folder, within that of a world, which holds the built functions and the database's logins. */
function nodeFolderIn(directory: string): string {
  return join(directory, 'node')
}

/** Builds the functions and returns their settings. */
export function buildOnNode(directory: string): Promise<FunctionSettings[]> {
  return buildAll(join(nodeFolderIn(directory), 'functions'))
}

/** Settings of the functions. */
export type OnNodeOptions = {
  functions: readonly FunctionSettings[]
  port: number
  /** Directory of the world. */
  directory: string
  databaseUrl: string
  bindings: Readonly<Record<string, string>>
  /** Seconds between two runs of a schedule; a minute if absent. */
  scheduleSeconds?: number | undefined
  endings: Endings
  say: (line: string) => void
}

/** Starts all functions. They answer requests when this resolves, and end with `endings`. */
export async function startOnNode(options: OnNodeOptions): Promise<{ url: string }> {
  const { functions, port, databaseUrl, bindings, scheduleSeconds = 60, endings, say } = options
  const directory = nodeFolderIn(options.directory)
  mkdirSync(directory, { recursive: true })
  makeSecrets(directory)
  await asOwner(databaseUrl, (sql) => openLogins(sql, directory))
  const { loaded, database } = await loadAll({
    functions,
    modules: join(directory, 'functions'),
    directory,
    databaseUrl,
    values: { ...bindings, CLIENT_ADDRESS_HEADER: clientHeader },
    hosts: loopback,
    endings,
    say,
    hear() {},
  })
  const hostname = '127.0.0.1'
  const door = { port, hostname, directory, signup: 'open', tls: undefined } as const
  const opening = openDoor(
    { ...door, isBehindProxy: false, logsRequests: false },
    { functions, loaded, database },
    say,
  )
  await endings.keep(opening, (host) => host.stop())
  const schedules = startSchedules(loaded, say, scheduleSeconds * 1000)
  await endings.keep(Promise.resolve(schedules), (end) => end())
  return { url: `http://${hostname}:${port}` }
}
