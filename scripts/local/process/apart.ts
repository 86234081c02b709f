/**
 * Runs functions that read strangers' input under a CPU limit, and hold nothing, in processes of their
 * own, because workers of one process take turns and those of the platform do not.
 */
import { Log, LogLevel } from 'miniflare'
import { functionWorker, readCode, type Wiring, worker } from '../function-worker.ts'
import type { FunctionSettings } from '../functions.ts'
import { openMiniflare } from '../miniflare.ts'

/** Decides whether a function runs apart: it has a CPU limit, no secrets and no services. */
export function runsApart({ cpuMilliseconds, secrets, services }: FunctionSettings): boolean {
  return cpuMilliseconds !== undefined && secrets.length === 0 && services.length === 0
}

/** Starts each such function in its own process. Returns the addresses by worker name. */
export async function startApart(given: Omit<Wiring, 'apart'>, log: (line: string) => void) {
  const egress = await readCode('egress')
  const started = given.functions.filter(runsApart).map((settings) => {
    const wiring = { ...given, apart: new Map<string, string>() }
    const workers = [
      functionWorker(settings, wiring),
      worker('egress', egress, settings.compatibilityDate),
    ]
    const miniflare = openMiniflare({
      cf: false,
      host: '127.0.0.1',
      port: 0,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: ({ message }) => log(message),
      workers,
    })
    return { name: settings.name, miniflare }
  })
  const stop = async () => {
    await Promise.all(started.map(({ miniflare }) => miniflare.dispose()))
  }
  try {
    const addresses = await Promise.all(
      started.map(async ({ name, miniflare }) => [name, (await miniflare.ready).host] as const),
    )
    return { addresses: new Map(addresses), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
