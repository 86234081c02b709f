/**
 * The functions on Node: three in processes of their own, all others in this one, bound to each other and to the
 * database by the logins of their roles.
 */
import * as z from 'zod'
import type { Database } from '../../shared/db/database.ts'
import { bindingOf, type Reached } from '../../shared/remote/binding.ts'
import type { FunctionSettings } from '../local/functions.ts'
import type { Endings } from '../local/process/endings.ts'
import { type Texts, textsOf } from './bindings.ts'
import { type Child, type Listeners, startChild } from './children.ts'
import { openDatabaseOf } from './database.ts'
import { type LoadedFunction, loadFunction, openPlatform, untracked } from './platform.ts'
import { runProgram } from './program.ts'
import { readSecrets } from './settings.ts'

/** Functions in processes of their own: two hold root keys, one reads what strangers wrote. */
const apart = [
  { folder: 'custody', secrets: 'custody' },
  { folder: 'vault', secrets: 'vault' },
  { folder: 'mail-reader', secrets: undefined },
] as const

const settingsSchema = z.array(
  z.custom<FunctionSettings>((value) => typeof value === 'object' && value !== null),
)

/** Builds the functions into a directory and returns the settings of all. */
export function buildAll(modules: string): Promise<FunctionSettings[]> {
  return runProgram('build-functions', { modules }, settingsSchema)
}

/** Input for loading the functions. */
export type Loading = Listeners & {
  functions: readonly FunctionSettings[]
  /** Directory of the built functions. */
  modules: string
  /** Data folder with the secrets. */
  directory: string
  /** Address of the database, with or without a login. */
  databaseUrl: string
  /** Values of vars and secrets; one that is given here is not taken from the files. */
  values: Texts
  /** Hosts that may be reached although they may not be public. */
  hosts: string[]
  endings: Endings
}

/** The functions of this process, and its database. */
export type LoadedAll = {
  loaded: readonly { folder: string; loaded: LoadedFunction }[]
  database: Database
}

/** Loads all functions. What was started is in `endings`, also when this rejects. */
export async function loadAll(loading: Loading): Promise<LoadedAll> {
  const { functions, modules, directory, values, hosts, endings } = loading
  const databaseAt = withoutLogin(loading.databaseUrl)
  const children = await startApart(loading, databaseAt)
  openPlatform(hosts)
  const secrets = readSecrets(directory, 'app')
  const opening = openDatabaseOf({ databaseAt, folder: 'app', secrets, modules })
  const { database } = await endings.keep(opening, ({ close }) => close())
  const here = functions.filter(({ name }) => !children.has(name))
  const found = new Map<string, LoadedFunction>()
  // A binding to a function of this process finds it when it is called, since all load in one go.
  const bindingTo = (service: string): object =>
    children.get(service)?.binding ?? bindingOf(() => reachedIn(found.get(service)))
  for (const one of here) {
    const services = one.services.map(({ binding, service }): [string, object] => [
      binding,
      bindingTo(service),
    ])
    const texts = textsOf(one, { ...secrets, ...values })
    const bindings = { ...texts, ...Object.fromEntries<object>(services), DATABASE: database }
    found.set(one.name, await loadFunction(modules, one.folder, bindings))
  }
  const loaded = here.flatMap(({ folder, name }) => {
    const one = found.get(name)
    return one ? [{ folder, loaded: one }] : []
  })
  return { loaded, database }
}

/** Starts the processes of single functions. Returns them by worker name. */
async function startApart(loading: Loading, databaseAt: string): Promise<Map<string, Child>> {
  const { functions, directory, modules, values, hosts, endings, say, hear } = loading
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
  return children
}

function withoutLogin(url: string): string {
  const at = new URL(url)
  at.username = ''
  at.password = ''
  return at.href
}

/** Reaches a function of this process, as a service binding does between workers. */
function reachedIn(found: LoadedFunction | undefined): Reached {
  if (!found) throw new Error('the function is not loaded')
  return {
    call: (...called) => found.call(...called),
    fetch: (request) => found.fetch(request, untracked),
  }
}
