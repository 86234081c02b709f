/** The tools as clients of both revisions of the protocol reach them, within this process. */
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { mcpFunction } from '../../functions/mcp/index.ts'
import type { World } from '../../shared/world.ts'
import { functionsIn } from './functions.ts'
import { userAgent } from './world.ts'

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>

/** A network on which the functions of this world answer, the tools among them. */
export function toolsIn(world: World): Fetch {
  const functions = functionsIn(world)
  const call = async (folder: string, request: Request) => {
    const found = functions.get(folder)
    if (!found) throw new Error(`no function ${folder}`)
    return found.fetch(request)
  }
  const mcp = mcpFunction(
    () => world,
    () => call,
  )
  return (url, init) => mcp.fetch(new Request(url, init))
}

const address = new URL('http://aoa.example/mcp')

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
