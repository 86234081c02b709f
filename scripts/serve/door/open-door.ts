/** Opens the functions to others: paths for the operator, who may sign up, routes, metrics and the log of requests. */
import type { FunctionSettings } from '../../local/functions.ts'
import { type Host, startHost } from '../host.ts'
import type { LoadedAll } from '../load.ts'
import { closedTo } from '../owner.ts'
import { readSecrets, type Settings } from '../settings.ts'
import { openMetrics } from './metrics.ts'
import { answerOperator } from './operator-paths.ts'

/** Functions and database behind the door. */
export type Behind = LoadedAll & { functions: readonly FunctionSettings[] }

/** The settings that concern it. */
export type DoorSettings = Pick<
  Settings,
  'port' | 'hostname' | 'tls' | 'isBehindProxy' | 'logsRequests' | 'signup' | 'directory'
>

/** Listens, and rejects if the port is taken. */
export async function openDoor(
  settings: DoorSettings,
  { functions, loaded, database }: Behind,
  say: (line: string) => void,
): Promise<Host> {
  const { port, hostname, tls, isBehindProxy, logsRequests, signup, directory } = settings
  const metrics = openMetrics()
  // Loaded by a service that sends traces only.
  const traces = process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
    ? (await import('./traces.ts')).openTraces()
    : undefined
  const { STATUS_TOKEN: token } = readSecrets(directory, 'app')
  const answer = answerOperator({ database, metrics, token })
  const refuse = closedTo(signup)
  const routes = functions.flatMap(({ folder, prefixes }) => {
    const found = loaded.find((one) => one.folder === folder)
    return found ? prefixes.map((prefix) => ({ prefix, ...found })) : []
  })
  const host = await startHost({
    port,
    hostname,
    // A proxy in front speaks TLS itself.
    tls: isBehindProxy ? undefined : tls,
    routes,
    isBehindProxy,
    first: (request, path) => answer(request, path) ?? refuse(request, path),
    say,
    note(answered, traceparent) {
      metrics.note(answered)
      traces?.note(answered, traceparent)
      if (logsRequests) console.log(JSON.stringify({ at: new Date(), ...answered }))
    },
  })
  return {
    reload: () => host.reload(),
    async stop() {
      await host.stop()
      // A collector that does not answer keeps no service from ending.
      await traces?.stop().catch((error: unknown) => say(`traces: ${String(error)}`))
    },
  }
}
