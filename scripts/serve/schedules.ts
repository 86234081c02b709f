/** Runs the functions that have a schedule, each once a minute and never twice at once. */
import type { LoadedFunction } from './platform.ts'
import { executionOver } from './platform.ts'

const everyMilliseconds = 60_000

/** Starts the schedules with a first run at once. The answer ends them after the runs under way. */
export function startSchedules(
  functions: readonly { folder: string; loaded: LoadedFunction }[],
  say: (line: string) => void,
): () => Promise<void> {
  const open = new Set<Promise<unknown>>()
  const running = new Set<string>()
  const comeRound = () => {
    for (const { folder, loaded } of functions) {
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
    while (open.size > 0) await Promise.allSettled(open)
  }
}
