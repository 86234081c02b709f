/** An isolate of the product in its own thread, which can die before any request that it makes. */
import type { MessagePort } from 'node:worker_threads'
import { parentPort, workerData } from 'node:worker_threads'
import * as z from 'zod'
import { functionsIn } from './functions.ts'
import { openProduct } from './product.ts'

const bindings = z.record(z.string(), z.string())

/** Data that an isolate starts with. */
export const birth = z.object({
  bindings: z.object({ product: bindings, custody: bindings, vault: bindings }),
  began: z.date(),
  movedSeconds: z.custom<Int32Array>((value) => value instanceof Int32Array),
})

/** Number of requests to neighbours that it still makes before it dies. */
export const doom = z.object({ steps: z.int() })

/** A request to one of its functions. */
export const errand = z.object({
  id: z.int(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
})

/** The function's answer. */
export const reply = z.object({
  id: z.int(),
  status: z.int(),
  body: z.record(z.string(), z.unknown()),
})

if (parentPort) serve(parentPort, birth.parse(workerData))

function serve(port: MessagePort, born: z.output<typeof birth>) {
  let stepsLeft = Number.POSITIVE_INFINITY
  const product = openProduct(born.bindings, {
    now: () => new Date(born.began.getTime() + Atomics.load(born.movedSeconds, 0) * 1000),
    fetch: (input, init) => {
      stepsLeft -= 1
      if (stepsLeft < 0) process.exit()
      return fetch(input, init)
    },
    // No test of isolates has a silent neighbour.
    deadline: () => new AbortController().signal,
    // A request that waits for another's answer polls without delay: no test waits for a real clock.
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    log: () => {},
  })
  const functions = functionsIn(product)
  const answer = async ({ id, path, headers, body }: z.output<typeof errand>) => {
    const asked = new Request(new URL(path, 'http://aoa'), { method: 'POST', headers, body })
    const given = await functions.get(path.slice(1))?.fetch(asked)
    port.postMessage({ id, status: given?.status ?? 404, body: await given?.json() })
  }
  port.on('message', (message: unknown) => {
    const told = z.union([errand, doom]).parse(message)
    if ('steps' in told) stepsLeft = told.steps
    else void answer(told)
  })
}
