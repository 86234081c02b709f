/**
 * Serves the `/rest/v1/rpc` part of PostgREST, and of the front of a hosted project, on loopback for an
 * unmodified supabase-js. It accepts nothing that these refuse. It has no tables, filters or embedding,
 * and refuses requests for them.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { unescape } from 'node:querystring'
import { type Caller, openCaller } from './gateway/call.ts'
import { type Answer, parseJson, type Refusal, refusal } from './gateway/errors.ts'
import { createGuard, type ProjectKeys } from './gateway/keys.ts'

const bodyBytesMax = 1_048_576
const requestTimeoutMilliseconds = 30_000
const keepAliveMilliseconds = 60_000
/** PostgREST's `db-pool`; hosted projects have 10 or more. */
const defaultConnections = 10
const pathPrefix = '/rest/v1/rpc/'

/** Settings of a gateway. */
export type GatewayOptions = {
  databaseUrl: string
  /** Port to listen on; any free one if absent. */
  port?: number
  /** The only schema whose functions are exposed. */
  schema: string
  keys: ProjectKeys
  /** Maximum number of calls that the database runs at once. */
  connections?: number
  /** Answers in place of the database, as a front does that cannot reach it. */
  front?: (request: IncomingMessage) => Answer | undefined
}

/** A running gateway. */
export type Gateway = { url: string; port: number; close(): Promise<void> }

/** Starts the gateway. A client uses `url` as its Supabase address. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { databaseUrl, schema, connections = defaultConnections } = options
  const caller = await openCaller({ databaseUrl, schema, connections })
  const identify = createGuard(options.keys)
  const reply = async (request: IncomingMessage): Promise<Answer> => {
    const identity = await identify(request.headers)
    return 'refused' in identity ? identity : answerRequest(request, schema, identity.role, caller)
  }
  const server = createServer((request, response) => {
    Promise.resolve(options.front?.(request) ?? reply(request))
      .catch(failure)
      .then((answered) => writeReply(request, response, answered))
      .catch(() => response.destroy())
  })
  server.requestTimeout = requestTimeoutMilliseconds
  server.keepAliveTimeout = keepAliveMilliseconds
  const port = await listen(server, options.port ?? 0).catch(async (error: unknown) => {
    await caller.close()
    throw error
  })
  const close = async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    await caller.close()
  }
  return { url: `http://127.0.0.1:${port}`, port, close }
}

async function answerRequest(
  request: IncomingMessage,
  schema: string,
  role: string,
  caller: Caller,
): Promise<Answer> {
  const { method = '', url = '' } = request
  const [path = '', query = ''] = url.split('?', 2)
  if (!path.startsWith(pathPrefix)) {
    return refusal(404, 'PGRST125', 'Invalid path specified in request URL')
  }
  const readOnly = method === 'GET' || method === 'HEAD'
  if (!readOnly && method !== 'POST') {
    return refusal(405, 'PGRST101', `Cannot use the ${method} method on RPC`)
  }
  const profile = request.headers[readOnly ? 'accept-profile' : 'content-profile']
  if (profile !== undefined && profile !== schema) return unknownSchema(String(profile), schema)
  const args = readOnly ? argumentsOfQuery(query) : await argumentsOfBody(request, query)
  if ('refused' in args) return args
  const single = request.headers.accept?.includes('application/vnd.pgrst.object') ?? false
  const name = unescape(path.slice(pathPrefix.length))
  return caller.call({ role, function: name, ...args, single, readOnly })
}

function failure(error: unknown): Refusal {
  console.error('gateway:', error)
  return refusal(500, 'XX000', 'The gateway failed')
}

function unknownSchema(profile: string, schema: string): Refusal {
  const hint = `Only the following schemas are exposed: ${schema}`
  return refusal(406, 'PGRST106', `Invalid schema: ${profile}`, null, hint)
}

type Arguments = { json: string; given: string[] }

const unservedParameters = new Set(['select', 'order', 'limit', 'offset', 'columns'])

function argumentsOfQuery(query: string): Arguments | Refusal {
  const args = Object.fromEntries(new URLSearchParams(query))
  const given = Object.keys(args)
  const unserved = given.find((name) => unservedParameters.has(name))
  return unserved ? notServed(unserved) : { json: JSON.stringify(args), given }
}

async function argumentsOfBody(
  request: IncomingMessage,
  query: string,
): Promise<Arguments | Refusal> {
  if (query) return notServed(query)
  const body = await readBody(request)
  if (body === undefined) {
    const message = `The request body is larger than ${bodyBytesMax} bytes`
    return refusal(413, 'PGRST102', message, null, null, { connection: 'close' })
  }
  const json = body || '{}'
  const args = parseJson(json)
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return refusal(400, 'PGRST102', 'Empty or invalid json')
  }
  return { json, given: Object.keys(args) }
}

function notServed(what: string): Refusal {
  return refusal(400, 'PGRST100', `This gateway serves function calls alone, not "${what}"`)
}

// Returns undefined if the limit is passed; the rest of such a body is not read.
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((read, failed) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bodyBytesMax) read(undefined)
      else chunks.push(chunk)
    })
    request.once('end', () => read(Buffer.concat(chunks).toString()))
    request.once('error', failed)
  })
}

function writeReply(request: IncomingMessage, response: ServerResponse, reply: Answer) {
  const bodiless = reply.status === 204 || reply.status === 304
  const length = bodiless ? {} : { 'content-length': Buffer.byteLength(reply.body) }
  response.writeHead(reply.status, { ...reply.headers, ...length })
  response.end(bodiless || request.method === 'HEAD' ? undefined : reply.body)
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((listening, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      listening(typeof address === 'object' && address ? address.port : port)
    })
  })
}
