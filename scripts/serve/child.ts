/**
 * Runs one function in a process of its own, for the functions that hold keys and the one that reads
 * strangers' mail. The parent sends calls; the process reads its secrets from its own file.
 */
import * as z from 'zod'
import { hearLog } from './alarms.ts'
import { openDatabaseOf } from './database.ts'
import { type LoadedFunction, loadFunction, openPlatform, untracked } from './platform.ts'
import { readSecrets } from './settings.ts'

/** First message: what to run. */
const birthSchema = z.object({
  folder: z.string(),
  directory: z.string(),
  modules: z.string(),
  vars: z.record(z.string(), z.string()),
  hosts: z.array(z.string()),
  /** File of its secrets, and address of PostgreSQL without a login; absent for a function with neither. */
  holds: z.object({ secrets: z.enum(['custody', 'vault']), databaseAt: z.string() }).optional(),
})
/** First message to a process. */
export type Birth = z.output<typeof birthSchema>

const callSchema = z.object({ id: z.int(), method: z.string(), args: z.array(z.unknown()) })
const httpSchema = z.object({
  url: z.string(),
  method: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.instanceof(Uint8Array).optional(),
})
/** A request or an answer as it travels between processes. */
export type Http = z.output<typeof httpSchema>

if (process.send) process.once('message', (message) => void begin(birthSchema.parse(message)))

async function begin(birth: Birth): Promise<void> {
  hearLog((line) => process.send?.({ line }))
  const { folder, modules, vars, hosts } = birth
  openPlatform(hosts)
  const loaded = await loadFunction(modules, folder, { ...(await own(birth)), ...vars })
  process.on('message', (message) => void answerCall(loaded, callSchema.parse(message)))
  // Ctrl-C reaches the whole group; the parent ends this process when its last call is answered.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
  // Without its parent the process has nobody to serve.
  process.on('disconnect', () => process.exit())
  process.send?.({ ready: true })
}

/** Returns the bindings that this process alone has. */
async function own({ directory, modules, holds }: Birth) {
  if (!holds) return {}
  const secrets = readSecrets(directory, holds.secrets)
  const { databaseAt, secrets: folder } = holds
  const { database } = await openDatabaseOf({ databaseAt, folder, secrets, modules })
  return { ...secrets, DATABASE: database }
}

async function answerCall(
  loaded: LoadedFunction,
  call: z.output<typeof callSchema>,
): Promise<void> {
  const { id, method, args } = call
  try {
    const value =
      method === 'fetch'
        ? await fetchIn(loaded, httpSchema.parse(args[0]))
        : await loaded.call(method, args)
    process.send?.({ id, value })
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.message : String(error) })
  }
}

async function fetchIn(loaded: LoadedFunction, { url, method, headers, body }: Http) {
  const request = new Request(url, { method, headers, ...(body && { body: Buffer.from(body) }) })
  const response = await loaded.fetch(request, untracked)
  return {
    status: response.status,
    headers: [...response.headers],
    body: new Uint8Array(await response.arrayBuffer()),
  }
}
