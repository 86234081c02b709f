/**
 * Serves the functions on one port by the paths of their routes. The client's address comes from the
 * connection, or from the proxy in front if there is one; a client's own word about it is dropped.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { Server as SecureServer } from 'node:https'
import { performance } from 'node:perf_hooks'
import { getRequestListener } from '@hono/node-server'
import type { AnsweredRequest } from './door/metrics.ts'
import { executionOver, type LoadedFunction } from './platform.ts'

/** Header in which the host tells the functions who asks. */
export const clientHeader = 'x-client-address'

const headersTimeoutMilliseconds = 10_000
const requestTimeoutMilliseconds = 120_000
// Longer than a proxy in front keeps an idle connection (Caddy: two minutes), or it would send into a closed one.
const idleTimeoutMilliseconds = 130_000
const endTimeoutMilliseconds = 15_000

/** Functions by the prefixes of their paths. */
export type Route = { prefix: string; folder: string; loaded: LoadedFunction }

/** Files of a certificate and its key, as PEM. */
export type CertificateFiles = { cert: string; key: string }

/** Settings of the host. */
export type HostOptions = {
  port: number
  /** Address to listen on. */
  hostname: string
  tls: CertificateFiles | undefined
  routes: readonly Route[]
  isBehindProxy: boolean
  /** Answers a request before any function sees it, or returns undefined. */
  first: (request: Request, path: string) => Promise<Response> | Response | undefined
  /** Hears of each request that a function answered, and of its traceparent header. */
  note: (answered: AnsweredRequest, traceparent: string | null) => void
  say: (line: string) => void
}

/** A listening host; `reload` reads the certificate again. */
export type Host = { stop(): Promise<void>; reload(): void }

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
    const began = performance.now()
    const answer = await found.loaded.fetch(new Request(request, { headers }), execution)
    const answered = {
      function: found.folder,
      method: request.method,
      status: answer.status,
      seconds: (performance.now() - began) / 1000,
      request_id: answer.headers.get('x-request-id'),
    }
    options.note(answered, request.headers.get('traceparent'))
    return answer
  }
  const answer = getRequestListener((request, { incoming }) =>
    serve(request, incoming.socket.remoteAddress ?? ''),
  )
  const listener: RequestListener = (request, response) => void answer(request, response)
  const server = serverOf(options.tls, listener)
  server.headersTimeout = headersTimeoutMilliseconds
  server.keepAliveTimeout = idleTimeoutMilliseconds
  server.requestTimeout = requestTimeoutMilliseconds
  server.listen(options.port, options.hostname)
  await once(server, 'listening')
  return {
    reload: () => reload(server, options),
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

function serverOf(tls: CertificateFiles | undefined, listener: RequestListener) {
  return tls ? new SecureServer(readCertificate(tls), listener) : createServer(listener)
}

function reload(server: Server | SecureServer, { tls, say }: HostOptions): void {
  if (!(server instanceof SecureServer) || !tls) return
  try {
    server.setSecureContext(readCertificate(tls))
    say('the certificate was read again')
  } catch (error) {
    say(`the certificate stays as it was: ${String(error)}`)
  }
}

/** Reads the files of a certificate. */
export function readCertificate({ cert, key }: CertificateFiles): CertificateFiles {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

/** The last address of X-Forwarded-For is the one that the proxy itself has seen. */
function clientOf(request: Request, seen: string, isBehindProxy: boolean): string {
  const forwarded = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
  return isBehindProxy && forwarded ? forwarded : seen
}
