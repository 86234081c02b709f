/** Starts Miniflare for the local world. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Miniflare, type MiniflareOptions } from 'miniflare'
import * as z from 'zod'

const miniflareFile = createRequire(import.meta.url).resolve('miniflare')
const workerdModule = z.object({ default: z.string() })

/**
 * Opens a Miniflare with two changes: it does not end the whole process on a signal before the other parts
 * have stopped, and its workerd does not outlive a process that was killed.
 */
export function openMiniflare(options: MiniflareOptions): Miniflare {
  const { default: workerd } = workerdModule.parse(createRequire(miniflareFile)('workerd'))
  process.env['AOA_WORKERD'] = workerd
  process.env['MINIFLARE_WORKERD_PATH'] = fileURLToPath(
    new URL('workers/workerd.sh', import.meta.url),
  )
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = new Set(signals.flatMap((name) => process.listeners(name)))
  const miniflare = new Miniflare(options)
  for (const name of signals) {
    for (const listener of process.listeners(name)) {
      if (!before.has(listener)) process.off(name, listener)
    }
  }
  return miniflare
}
