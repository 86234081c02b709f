/**
 * Several isolates of the product over one database and one chain, each with its own memory and
 * connections. They die in the middle of their work and start again. Requests that an isolate has not
 * answered are lost with it, as when a platform ends one.
 */
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import type * as z from 'zod'
import { type birth, type doom, type errand, reply } from './isolate.ts'
import { type Agent, type TestWorld, userAgent } from './world.ts'

export type Order = { agent: Agent; path: string; body: object; key?: string }
export type Reply = Omit<z.output<typeof reply>, 'id'>

/** For each isolate, the number of steps of its next lives; the life after them has no end. */
export type Lives = readonly (readonly number[])[]

export type Offering = {
  /** Orders that one isolate works on at the same time. */
  atOnce: number
  lives?: Lives
  /** Called after each order, answered or lost, with the number of orders that are over. */
  onOver?: (orders: number) => void
}

export type Fleet = {
  /** Offers the orders to the isolates in turn; an order that was lost gives undefined. */
  offer(orders: readonly Order[], how: Offering): Promise<(Reply | undefined)[]>
  /** Returns the number of deaths. */
  deaths(): number
  close(): Promise<void>
}

/** Starts isolates of the product. */
export async function openFleet(world: TestWorld, size: number): Promise<Fleet> {
  const code = await bundled()
  const isolates = Array.from({ length: size }, () => openIsolate(code, world))
  return {
    async offer(orders, { atOnce, lives = [], onOver }) {
      const replies: (Reply | undefined)[] = []
      let over = 0
      await Promise.all(
        isolates.map(async (isolate, place) => {
          isolate.doom(lives[place] ?? [])
          const own = [...orders.entries()].filter(([at]) => at % size === place)
          await inTurn(own, atOnce, async ([at, order]) => {
            replies[at] = await isolate.send(order)
            over += 1
            onOver?.(over)
          })
        }),
      )
      return Array.from(orders, (_, at) => replies[at])
    },
    deaths: () => isolates.reduce((sum, isolate) => sum + isolate.deaths(), 0),
    async close() {
      await Promise.all(isolates.map((isolate) => isolate.end()))
    },
  }
}

type Isolate = {
  doom(lives: readonly number[]): void
  send(order: Order): Promise<Reply | undefined>
  deaths(): number
  end(): Promise<void>
}

function openIsolate(code: string, { bindings, movedSeconds, db: { began } }: TestWorld): Isolate {
  const workerData: z.input<typeof birth> = { bindings, began, movedSeconds }
  const unanswered = new Map<number, (reply: Reply | undefined) => void>()
  let lives: readonly number[] = []
  let [sent, deaths, isOver] = [0, 0, false]
  const doomNext = () => {
    const [steps, ...others] = lives
    lives = others
    if (steps !== undefined) current.postMessage({ steps } satisfies z.input<typeof doom>)
  }
  const start = () => {
    const worker = new Worker(code, { eval: true, execArgv: [], workerData })
    worker.on('message', (message: unknown) => {
      const { id, ...answer } = reply.parse(message)
      unanswered.get(id)?.(answer)
      unanswered.delete(id)
    })
    return worker.once('exit', () => {
      if (isOver) return
      deaths += 1
      current = start()
      doomNext()
      for (const lose of unanswered.values()) lose(undefined)
      unanswered.clear()
    })
  }
  let current = start()
  return {
    doom(next) {
      lives = next
      doomNext()
    },
    send: (order) =>
      new Promise((resolve) => {
        sent += 1
        unanswered.set(sent, resolve)
        current.postMessage(errandOf(sent, order))
      }),
    deaths: () => deaths,
    async end() {
      isOver = true
      await current.terminate()
    },
  }
}

function errandOf(id: number, { agent, path, body, key }: Order): z.input<typeof errand> {
  const headers = {
    authorization: `Bearer ${agent.key}`,
    'user-agent': userAgent,
    'content-type': 'application/json',
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  }
  return { id, path, headers, body: JSON.stringify(body) }
}

/** One bundled module for all isolates: it starts in a tenth of the time that loading every file takes. */
let bundle: Promise<string> | undefined
function bundled(): Promise<string> {
  bundle ??= bundleIsolate()
  return bundle
}

async function bundleIsolate(): Promise<string> {
  const entry = new URL('isolate.ts', import.meta.url).pathname
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    logLevel: 'error',
  })
  const [file] = outputFiles
  if (!file) throw new Error('the isolate was not built')
  return file.text
}

/** Works through the items from the front, `atOnce` of them in parallel. */
export async function inTurn<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const worker = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
