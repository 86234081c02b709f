/**
 * Serves the tools of an account over standard input and output, for programs that start their MCP servers
 * themselves. Only messages of the protocol are written to standard output.
 */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { contracts } from '../functions/contracts.ts'
import manifest from '../package.json' with { type: 'json' }
import { serverOf } from '../shared/mcp/server.ts'
import { toolsOf } from '../shared/mcp/tools.ts'
import type { ClientOptions } from './client/options.ts'
import { callOverNetwork } from './mcp/port.ts'
import { scopesOfKey } from './mcp/scopes.ts'
import { readMcpSettings, SettingsError } from './mcp/settings.ts'

const help = `agent-operating-account-mcp [--help] [--version]

Serves the tools of an Agent Operating Account over standard input and output (Model Context Protocol).

AOA_API_KEY    an API key of the account
AOA_BASE_URL   address of the service, such as https://account.example
AOA_DEVICE_ID  names this computer to the account, if you want it to have a name of its own

Ends with 0 when its input ends, and with 2 when one of these is missing or malformed.`

/** Returns an exit code, or undefined while tools are served. */
function startServer(): number | undefined {
  try {
    const options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const
    const { values } = parseArgs({ options })
    if (values.help || values.version) {
      console.log(values.help ? help : manifest.version)
      return 0
    }
    serve(readMcpSettings(process.env))
    return undefined
  } catch (error) {
    const isUsage = error instanceof SettingsError || error instanceof TypeError
    console.error(isUsage ? `${error.message}\n\n${help}` : error)
    return isUsage ? 2 : 1
  }
}

function serve(client: ClientOptions): void {
  const exchange = {
    world: { config: { CLIENT_ADDRESS_HEADER: '', BASE_URL: client.baseUrl }, pause },
    call: callOverNetwork(client),
    tools: toolsOf(contracts),
    caller: 'the one that started this process',
    scopesHeld: () => scopesOfKey(client),
    stateKey: randomBytes(32).toString('hex'),
    headers: new Headers(),
    failed: (error: unknown) => console.error(error),
  }
  serveStdio(() => serverOf(exchange), { onerror: ({ message }) => console.error(message) })
  // Requests that are still open then would keep the process running without a client.
  process.stdin.once('end', () => process.stdout.write('', () => process.exit(0)))
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

process.exitCode = startServer()
