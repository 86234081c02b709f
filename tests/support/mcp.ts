/** MCP clients of both protocol revisions that reach the tools within this process. */
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import * as z from 'zod'
import { mcpFunction } from '../../functions/mcp/index.ts'
import type { CallPort } from '../../shared/mcp/call.ts'
import type { World } from '../../shared/world.ts'
import { functionsIn } from './functions.ts'
import { type TestWorld, userAgent } from './world.ts'

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Sends a call to the function of an operation in this process. */
export function callIn(world: World): CallPort {
  const functions = functionsIn(world)
  return async (folder, request) => {
    const found = functions.get(folder)
    if (!found) throw new Error(`no function ${folder}`)
    return found.fetch(request)
  }
}

/** Returns a network on which the tools of this world answer. */
export function toolsIn(world: World): Fetch {
  const mcp = mcpFunction(
    () => world,
    () => callIn(world),
  )
  return (url, init) => mcp.fetch(new Request(url, init))
}

/** Address of the tools. */
export const address = new URL('http://aoa.example/mcp')

/** Connects a client of the revisions of 2025. */
export async function connectLegacy(fetch: Fetch, token: string): Promise<Client> {
  const client = new Client({ name: 'guarantee', version: '1.0' })
  const transport = new StreamableHTTPClientTransport(address, {
    fetch,
    requestInit: { headers: headersOf(token) },
  })
  await client.connect(typed(transport))
  return client
}

/**
 * Casts a transport to Transport, whose optional members are declared without undefined and so do not match
 * under exactOptionalPropertyTypes.
 */
export function typed(transport: StreamableHTTPClientTransport): Transport {
  return transport as Transport
}

/** Connects a client of revision 2026-07-28; `opens` answers requests to open an address. */
export async function connectModern(
  fetch: Fetch,
  token: string,
  opens?: Opens,
): Promise<ModernClient> {
  const client = modernClient(opens)
  await client.connect(
    new ModernTransport(address, { fetch, requestInit: { headers: headersOf(token) } }),
  )
  return client
}

/** Decides for the user about an address that the client is asked to open. */
export type Opens = (url: string) => Promise<'accept' | 'decline' | 'cancel'>

/** Returns a client of revision 2026-07-28 that is not connected yet. */
export function modernClient(opens?: Opens): ModernClient {
  const client = new ModernClient(
    { name: 'guarantee', version: '1.0' },
    {
      capabilities: opens ? { elicitation: { url: {} } } : {},
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  )
  if (opens) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: await opens('url' in params ? params.url : ''),
    }))
  }
  return client
}

function headersOf(token: string) {
  return { authorization: `Bearer ${token}`, 'user-agent': userAgent }
}

const told = z.object({
  id: z.number(),
  result: z.object({ structuredContent: z.object({ account_id: z.string() }) }),
})

/**
 * Has fifty accounts ask for their identity, with three ids among all messages. Returns the answers that
 * named another account or had another id.
 */
export async function callAtOnce(
  world: TestWorld,
  fetch: Fetch,
  { calls, inFlight }: { calls: number; inFlight: number },
): Promise<object[]> {
  const rate = { perSecond: 10_000, burst: 10_000 }
  const callers = await Promise.all(Array.from({ length: 50 }, () => world.agent('read', { rate })))
  const crossed: object[] = []
  let next = 0
  const callInTurn = async () => {
    while (next < calls) {
      const at = next++
      const [caller, id] = [callers[at % callers.length], 1 + (at % 3)]
      const params = { name: 'get_identity', arguments: {} }
      const answer = await fetch(address, modern(caller?.key ?? '', 'tools/call', params, id))
      const { id: itsId, result } = told.parse(await answer.json())
      const { account_id: account } = result.structuredContent
      if (account !== caller?.id || itsId !== id) crossed.push({ at, account, itsId })
    }
  }
  await Promise.all(Array.from({ length: inFlight }, callInTurn))
  return crossed
}

/** Returns a request of revision 2026-07-28, without a token if it is empty. */
export function modern(
  token: string,
  method: string,
  params: object = {},
  id = 1,
  capabilities: object = {},
): RequestInit {
  const version = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'guarantee', version: '1.0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  return {
    method: 'POST',
    headers: {
      ...(token === '' ? {} : headersOf(token)),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...('name' in params ? { 'mcp-name': String(params.name) } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
  }
}
