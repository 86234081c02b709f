/**
 * The platform that the functions expect, made of Node: the modules `cloudflare:*`, requests to the outside
 * that reach public addresses only, and functions loaded from their bundles.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { Database } from '../../shared/db/database.ts'
import type { Query } from '../../shared/db/direct/catalog.ts'
import type { openDirectDatabase } from '../../shared/db/direct/direct.ts'
import { publicFetch } from './public-fetch.ts'

type Bindings = Readonly<Record<string, unknown>>
/** Context that a platform passes to a function. */
export type Execution = { waitUntil(work: Promise<unknown>): void; passThroughOnException(): void }

/** A function as its bundle exports it; a part that it lacks is absent. */
export type LoadedFunction = {
  fetch(request: Request, execution: Execution): Promise<Response>
  scheduled?(execution: Execution): Promise<void>
  /** Calls a method that other functions reach by service binding. */
  call(method: string, args: readonly unknown[]): Promise<unknown>
}

/** Prepares this process. `hosts` may be reached although they are not public: endpoints and mail servers. */
export function openPlatform(hosts: readonly string[]): void {
  globalThis.fetch = publicFetch(hosts)
}

/** Name of the module, among the built ones, that opens the database. */
export const databaseModule = 'direct-database'
/** Name of the program, among them, that runs one function in a process of its own. */
export const childProgram = 'child.mjs'

const databaseSchema = z.object({
  openDirectDatabase: z.custom<typeof openDirectDatabase>((value) => typeof value === 'function'),
})

/** Opens the database by the module that was built with the functions, whose errors they recognize. */
export async function loadDatabase(modules: string, query: Query): Promise<Database> {
  const loaded: unknown = await import(pathToFileURL(join(modules, `${databaseModule}.mjs`)).href)
  return databaseSchema.parse(loaded).openDirectDatabase(query)
}

type Handler = (...args: unknown[]) => unknown
const handler = z.custom<Handler>((value) => typeof value === 'function')
const moduleSchema = z.object({
  default: z.union([z.custom<new (...args: unknown[]) => object>(isClass), z.looseObject({})]),
})

/** Loads a function with its bindings from the directory of bundles. */
export async function loadFunction(
  modules: string,
  folder: string,
  bindings: Bindings,
): Promise<LoadedFunction> {
  const loaded: unknown = await import(pathToFileURL(join(modules, `${folder}.mjs`)).href)
  const { default: given } = moduleSchema.parse(loaded)
  return isClass(given) ? ofClass(given, bindings) : ofObject(given, bindings)
}

function isClass(value: unknown): value is new (...args: unknown[]) => object {
  return typeof value === 'function' && 'prototype' in value
}

/** A WorkerEntrypoint: an instance for each call, which has its bindings and execution. */
function ofClass(Entry: new (...args: unknown[]) => object, bindings: Bindings): LoadedFunction {
  const run = async (method: string, args: readonly unknown[], execution: Execution) => {
    const entry = new Entry(execution, bindings)
    const member: unknown = Reflect.get(entry, method)
    return handler.parse(member).call(entry, ...args)
  }
  return {
    fetch: async (request, execution) =>
      z.instanceof(Response).parse(await run('fetch', [request], execution)),
    ...('scheduled' in Entry.prototype && {
      scheduled: async (execution: Execution) => void (await run('scheduled', [], execution)),
    }),
    call: (method, args) => run(method, args, untracked),
  }
}

function ofObject(entry: Record<string, unknown>, bindings: Bindings): LoadedFunction {
  const scheduled = handler.optional().parse(entry['scheduled'])
  return {
    fetch: async (request, execution) =>
      z
        .instanceof(Response)
        .parse(await handler.parse(entry['fetch'])(request, bindings, execution)),
    ...(scheduled && {
      scheduled: async (execution: Execution) => void (await scheduled({}, bindings, execution)),
    }),
    call: async (method, args) => handler.parse(entry[method])(...args),
  }
}

/** An execution whose work nobody waits for: whatever is left open, a schedule does. */
export const untracked: Execution = { waitUntil() {}, passThroughOnException() {} }

/** Returns an execution whose work is waited for before the process ends. */
export function executionOver(open: Set<Promise<unknown>>): Execution {
  return {
    waitUntil(work) {
      const settled = work
        .catch(() => {})
        .finally(() => {
          open.delete(settled)
        })
      open.add(settled)
    },
    passThroughOnException() {},
  }
}

/** Time that runs under way have at the end; whatever they leave, the next start goes on with. */
const endMilliseconds = 3_000

/** Starts the schedules of the functions that have one, with a first run at once. The answer ends them. */
export function startSchedules(
  functions: readonly { folder: string; loaded: LoadedFunction }[],
  say: (line: string) => void,
  everyMilliseconds = 60_000,
): () => Promise<void> {
  const scheduled = functions.filter(({ loaded }) => loaded.scheduled !== undefined)
  const open = new Set<Promise<unknown>>()
  const running = new Set<string>()
  const comeRound = () => {
    for (const { folder, loaded } of scheduled) {
      if (running.has(folder)) continue
      running.add(folder)
      const execution = executionOver(open)
      execution.waitUntil(
        Promise.resolve(loaded.scheduled?.(execution))
          .catch((error: unknown) => say(`${folder}: ${String(error)}`))
          .finally(() => running.delete(folder)),
      )
    }
  }
  comeRound()
  const timer = setInterval(comeRound, everyMilliseconds)
  return async () => {
    clearInterval(timer)
    await Promise.race([Promise.allSettled(open), pause(endMilliseconds)])
  }
}
