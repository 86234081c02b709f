/**
 * Serves the functions on one port by the paths of their routes. The client's address comes from the
 * connection, or from the proxy in front if there is one; a client's own word about it is dropped.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { LoadedFunction } from './platform.ts'
import { executionOver } from './platform.ts'

/** Header in which the host tells the functions who asks. */
export const clientHeader = 'x-client-address'

const headersTimeoutMilliseconds = 10_000
const requestTimeoutMilliseconds = 120_000
const endTimeoutMilliseconds = 15_000

/** Functions by the prefixes of their paths. */
export type Route = { prefix: string; loaded: LoadedFunction }

/** Settings of the host. */
export type HostOptions = {
  port: number
  /** Address to listen on. */
  hostname: string
  routes: readonly Route[]
  isBehindProxy: boolean
  /** Answers a request before any function sees it, or returns undefined. */
  first: (request: Request, path: string) => Response | undefined
}

/** A listening host. */
export type Host = { stop(): Promise<void> }

/** Listens, and rejects if the port is taken. */
export async function startHost(options: HostOptions): Promise<Host> {
  const routes = options.routes.toSorted((one, other) => other.prefix.length - one.prefix.length)
  const open = new Set<Promise<unknown>>()
  const execution = executionOver(open)
  const serve = async (request: Request, seen: string): Promise<Response> => {
    const path = new URL(request.url).pathname
    const early = options.first(request, path)
    if (early) return early
    const found = routes.find(({ prefix }) => path.startsWith(prefix))
    if (!found) return new Response(null, { status: 404 })
    const headers = new Headers(request.headers)
    headers.set(clientHeader, clientOf(request, seen, options.isBehindProxy))
    return found.loaded.fetch(new Request(request, { headers }), execution)
  }
  const listener = getRequestListener((request, { incoming }) =>
    serve(request, incoming.socket.remoteAddress ?? ''),
  )
  const server = createServer((request, response) => void listener(request, response))
  server.headersTimeout = headersTimeoutMilliseconds
  server.requestTimeout = requestTimeoutMilliseconds
  server.listen(options.port, options.hostname)
  await once(server, 'listening')
  return {
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const late = setTimeout(() => server.closeAllConnections(), endTimeoutMilliseconds)
      await closed
      clearTimeout(late)
      await Promise.allSettled(open)
    },
  }
}

/** The last address of X-Forwarded-For is the one that the proxy itself has seen. */
function clientOf(request: Request, seen: string, isBehindProxy: boolean): string {
  const told = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
  return isBehindProxy && told ? told : seen
}
