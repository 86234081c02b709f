import { offeredOperations } from '../../shared/contract/offered.ts'
import { runToEnd } from '../../shared/http/later.ts'
import { type CallPort, callOver } from '../../shared/mcp/call.ts'
import { type McpService, serveMcp } from '../../shared/mcp/endpoint.ts'
import { toolsOf } from '../../shared/mcp/tools.ts'
import { type World, worldFrom } from '../../shared/world.ts'
import { contracts } from '../contracts.ts'

type Bindings = Record<string, unknown>

/**
 * Makes the function. It reads no cookie, so pages of any origin may call it with a token; only on loopback
 * is the Origin checked. Only tests replace its arguments.
 */
export function mcpFunction(
  worldOf: (bindings: Bindings) => World = worldFrom,
  callIn: (bindings: Bindings, world: World) => CallPort = callOver,
) {
  let service: McpService | undefined
  return {
    fetch: runToEnd((request, bindings = {}) => {
      if (!service) {
        const world = worldOf(bindings)
        service = {
          world,
          call: callIn(bindings, world),
          tools: toolsOf(offeredOperations(contracts, world.config)),
        }
      }
      return serveMcp(service, request)
    }),
  }
}

export default mcpFunction()
