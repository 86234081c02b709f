/** Runs the functions that have a schedule, each every minute and never twice at once. */
import { setTimeout as pause } from 'node:timers/promises'
import { executionOver, type LoadedFunction } from './platform.ts'

/** Time that runs under way have at the end; whatever they leave, the next start goes on with. */
const endMilliseconds = 3_000

/** Starts the schedules of the functions that have one, with a first run at once. The answer ends them. */
export function startSchedules(
  functions: readonly { folder: string; loaded: LoadedFunction }[],
  say: (line: string) => void,
  everyMilliseconds = 60_000,
): () => Promise<void> {
  const scheduled = functions.filter(({ loaded }) => loaded.scheduled !== undefined)
  const open = new Set<Promise<unknown>>()
  const running = new Set<string>()
  const comeRound = () => {
    for (const { folder, loaded } of scheduled) {
      if (running.has(folder)) continue
      running.add(folder)
      const execution = executionOver(open)
      execution.waitUntil(
        Promise.resolve(loaded.scheduled?.(execution))
          .catch((error: unknown) => say(`${folder}: ${String(error)}`))
          .finally(() => running.delete(folder)),
      )
    }
  }
  comeRound()
  const timer = setInterval(comeRound, everyMilliseconds)
  return async () => {
    clearInterval(timer)
    await Promise.race([Promise.allSettled(open), pause(endMilliseconds)])
  }
}
