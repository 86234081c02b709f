/**
 * Serves the product's MCP handler and tools, with the diagnostic tools of the conformance suite, on a
 * local port. The diagnostics are added to each server and exist in tests only. The suite sends no token,
 * so this address adds one.
 */
import { serve } from '@hono/node-server'
import { contracts } from '../../../functions/contracts.ts'
import { serveMcp } from '../../../shared/mcp/endpoint.ts'
import { type Exchange, requestStateCodec, serverOf } from '../../../shared/mcp/server.ts'
import { toolsOf } from '../../../shared/mcp/tools.ts'
import type { World } from '../../../shared/world.ts'
import { callIn } from '../mcp.ts'
import { addBehaviour } from './behaviour.ts'
import { addContent } from './content.ts'
import { addRounds } from './rounds.ts'

/** Starts the server; its address ends in /mcp. */
export async function serveConformance(
  world: World,
  token: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const local = { ...world, config: { ...world.config, BASE_URL: 'http://localhost' } }
  const service = {
    world: local,
    call: callIn(world),
    tools: toolsOf(contracts),
    serverOf: diagnostic,
  }
  const fetch = (request: Request) => {
    const headers = new Headers(request.headers)
    headers.set('authorization', `Bearer ${token}`)
    return serveMcp(service, new Request(request, { headers }))
  }
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
      const stop = () => new Promise<void>((ended) => server.close(() => ended()))
      resolve({ url: `http://localhost:${port}/mcp`, stop })
    })
  })
}

function diagnostic(exchange: Exchange) {
  const server = serverOf(exchange)
  server.server.registerCapabilities({
    logging: {},
    prompts: { listChanged: false },
    resources: { listChanged: false },
  })
  addContent(server)
  addBehaviour(server)
  const states = requestStateCodec(exchange)
  addRounds(server, (round, context) => states.mint(round, context))
  return server
}
