/** The tools as clients of both revisions of the protocol reach them, within this process. */
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import * as z from 'zod'
import { mcpFunction } from '../../functions/mcp/index.ts'
import type { CallPort } from '../../shared/mcp/call.ts'
import type { World } from '../../shared/world.ts'
import { functionsIn } from './functions.ts'
import { userAgent } from './world.ts'

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

/** A network on which the tools of this world answer. */
export function toolsIn(world: World): Fetch {
  const mcp = mcpFunction(
    () => world,
    () => callIn(world),
  )
  return (url, init) => mcp.fetch(new Request(url, init))
}

/** Where the tools are. */
export const address = new URL('http://aoa.example/mcp')

/** A client of the revisions of 2025, connected. */
export async function connectLegacy(fetch: Fetch, token: string): Promise<Client> {
  const client = new Client({ name: 'guarantee', version: '1.0' })
  const transport = new StreamableHTTPClientTransport(address, {
    fetch,
    requestInit: { headers: headersOf(token) },
  })
  // The transport's optional members are typed without undefined, against which it is compiled here.
  await client.connect(Object.assign(transport))
  return client
}

/** A client of revision 2026-07-28, connected; `opens` answers requests to open an address. */
export async function connectModern(
  fetch: Fetch,
  token: string,
  opens?: (url: string) => Promise<'accept' | 'decline' | 'cancel'>,
): Promise<ModernClient> {
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
  await client.connect(
    new ModernTransport(address, { fetch, requestInit: { headers: headersOf(token) } }),
  )
  return client
}

function headersOf(token: string) {
  return { authorization: `Bearer ${token}`, 'user-agent': userAgent }
}

const told = z.object({
  id: z.number(),
  result: z.object({ structuredContent: z.record(z.string(), z.unknown()) }),
})

/** A call of a tool as bare bytes of revision 2026-07-28, with an id of the caller's choice. */
export async function askTool(
  fetch: Fetch,
  token: string,
  name: string,
  args: object,
  id: number,
): Promise<z.output<typeof told>> {
  const answer = await fetch(address, modern(token, 'tools/call', { name, arguments: args }, id))
  return told.parse(await answer.json())
}

/** A request of revision 2026-07-28; without a token where it is empty. */
export function modern(token: string, method: string, params: object = {}, id = 1): RequestInit {
  const version = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'guarantee', version: '1.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
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
