/** Requests through a product of their own, in which a test controls a part of the outside. */
import type { World } from '../../shared/world.ts'
import { functionsIn } from './functions.ts'
import { type Held, openProduct } from './product.ts'
import { type Agent, type TestWorld, userAgent } from './world.ts'

export type Post = (
  agent: Agent,
  path: string,
  body: object,
  idempotencyKey?: string,
) => Promise<number>

/** Opens the product and returns a function that posts a request and returns the status. */
export function posting(world: TestWorld, held: Held): Post {
  const functions = functionsIn(openProduct(world.bindings, { log: () => {}, ...held }))
  return async ({ key }, path, body, idempotencyKey) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'user-agent': userAgent,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await functions
      .get(path.slice(1))
      ?.fetch(new Request(`http://aoa${path}`, request))
    return answer?.status ?? 404
  }
}

/** Returns what a request asks a neighbour for: the name of an SQL function, or the methods of a node. */
export function askedFor(...[input, init]: Parameters<World['fetch']>): string {
  const [, called] = /\/rpc\/(\w+)$/.exec(new Request(input).url) ?? []
  const body = typeof init?.body === 'string' ? init.body : ''
  const methods = [...body.matchAll(/"method":"(\w+)"/g)].map(([, method]) => method)
  return called ?? methods.join()
}
