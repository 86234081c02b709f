/**
 * Runs a function within the limit that the platform sets to one invocation and workerd alone does not: six requests
 * may wait for the headers of their answers, and further ones queue (Cloudflare Workers, "Limits", simultaneous open
 * connections). Calls of other functions do not count.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import made from './function.mjs'

const waitingMax = 6

/** Requests of one invocation. */
type Invocation = { waiting: number; queue: (() => void)[] }

const invocations = new AsyncLocalStorage<Invocation>()
const send = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const invocation = invocations.getStore()
  if (!invocation) return send(input, init)
  if (invocation.waiting === waitingMax) {
    await new Promise<void>((resolve) => invocation.queue.push(resolve))
  } else {
    invocation.waiting += 1
  }
  try {
    return await send(input, init)
  } finally {
    const next = invocation.queue.shift()
    if (next) next()
    else invocation.waiting -= 1
  }
}

/** Handlers of a function by name, or methods of its class. */
type Handlers = Record<string, unknown>
const handlers: Handlers = isClass(made) ? made.prototype : made
for (const name of Object.getOwnPropertyNames(handlers)) {
  const handler = handlers[name]
  if (name === 'constructor' || typeof handler !== 'function') continue
  handlers[name] = function (this: unknown, ...given: unknown[]): unknown {
    const apply = (): unknown => Reflect.apply(handler, this, given)
    return invocations.run({ waiting: 0, queue: [] }, apply)
  }
}

function isClass(made: unknown): made is { prototype: Handlers } {
  return typeof made === 'function'
}

export default made
