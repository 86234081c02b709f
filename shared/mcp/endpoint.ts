/**
 * The tools over HTTP (Streamable HTTP, MCP 2026-07-28 and the revisions of 2025): one message per request,
 * a new server for each, and no state in between. Streams cannot be resumed.
 */
import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { credentialOf } from '../auth/api-key.ts'
import { parseJson } from '../base64.ts'
import { fail, Rejection } from '../contract/errors.ts'
import { required } from '../env.ts'
import { allowAnyOrigin, fixedHeaders, refuse, wrongPath } from '../http/answer.ts'
import { wholeRequest } from '../http/input.ts'
import type { World } from '../world.ts'
import { admit, credentialOfRequest, refuseMessage } from './admission.ts'
import { callFor } from './call.ts'
import { type Exchange, serverOf } from './server.ts'

/** Largest body of an operation, and room for the message around it. */
const bodyBytesMax = 144 * 1024
/** Time limit of an exchange, longer than any operation takes. */
const exchangeMaxMilliseconds = 120_000

/** Dependencies of every request. Only a test that extends the server replaces `serverOf`. */
export type McpService = Pick<Exchange, 'call' | 'tools'> & {
  world: World
  serverOf?: typeof serverOf
}

/** Answers one request, also to a program that runs in a page of another origin. */
export async function serveMcp(service: McpService, request: Request): Promise<Response> {
  const response = await answered(service, request)
  allowAnyOrigin(response.headers)
  return response
}

async function answered(service: McpService, request: Request): Promise<Response> {
  const { world } = service
  const requestId = world.newId()
  if (!/^\/mcp\/?$/.test(new URL(request.url).pathname)) return refuse(wrongPath('/mcp'), requestId)
  if (request.method === 'OPTIONS') return new Response(null, { status: 204 })
  try {
    const response = await served(service, request, requestId)
    return withFixedHeaders(response, requestId)
  } catch (error) {
    if (error instanceof Rejection) return refuseMessage(world, request, error.refusal, requestId)
    world.log({ requestId, operation: 'mcp', log: String(error) })
    return refuse(fail('internal_error'), requestId)
  }
}

async function served(service: McpService, request: Request, requestId: string): Promise<Response> {
  const { world, tools } = service
  const foreign = foreignOrigin(world, request)
  if (foreign) return foreign
  const credential = await credentialOfRequest(world, request)
  if (request.method !== 'POST') {
    throw new Rejection(fail('method_not_allowed', { details: { allow: 'POST' } }))
  }
  const text = await (await wholeRequest(request, bodyBytesMax)).text()
  // Undefined if the text is not JSON; the protocol has its own answer to that.
  const message = parseJson(text)
  if (Array.isArray(message)) {
    throw new Rejection(fail('invalid_request', { message: 'Send one message in a request.' }))
  }
  const { caller, scopes_held } = await admit(
    world,
    { credential, headers: request.headers },
    message,
    tools,
  )
  const stateKey = await credentialOf('mcp request state', required(world.config, 'API_KEY_PEPPER'))
  const { headers } = request
  const call = callFor(world, credential, service.call)
  const failed = (error: unknown) => {
    const log = error instanceof Error ? String(error.stack) : String(error)
    world.log({ requestId, operation: 'mcp', log })
  }
  const scopesHeld = async () => scopes_held
  const exchange = { world, call, tools, caller, scopesHeld, stateKey, headers, failed }
  const handler = createMcpHandler(() => (service.serverOf ?? serverOf)(exchange), {
    // An invalid message is answered to its sender, who must not be able to fill the log with it.
    onerror: (error) => {
      if (!error.message.startsWith('Rejected inbound request')) failed(error)
    },
  })
  // Without a deadline a subscription would stay open for as long as its client likes.
  const signal = AbortSignal.any([request.signal, world.deadline(exchangeMaxMilliseconds)])
  return handler.fetch(new Request(request.url, { method: 'POST', headers, body: text, signal }))
}

/**
 * Refuses pages of other hosts where the tools are on loopback: there a page whose host name was rebound to
 * 127.0.0.1 would reach what is not meant for it (MCP 2026-07-28, basic/transports). On a public host the
 * Origin says nothing, because a call needs a token and no cookie is read.
 */
function foreignOrigin({ config }: World, request: Request): Response | undefined {
  const loopback = localhostAllowedOrigins()
  if (!loopback.includes(new URL(config.BASE_URL).hostname)) return undefined
  return originValidationResponse(request, loopback)
}

function withFixedHeaders(response: Response, requestId: string): Response {
  const { 'content-type': _, ...fixed } = fixedHeaders(requestId)
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(fixed)) headers.set(name, value)
  return new Response(response.body, { status: response.status, headers })
}
