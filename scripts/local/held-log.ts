/**
 * Prints what functions log, a second late. A function meets the end of its database before the world
 * does, so only later is it known that what it wrote then is that there was none, and left out.
 */
import type { LastingPostgres } from './lasting-postgres.ts'

const holdMilliseconds = 1_000

export type HeldLog = {
  log: (line: string) => void
  /** Prints at once what still waits. */
  flush: () => void
}

export function createHeldLog({ wasUpSince }: Pick<LastingPostgres, 'wasUpSince'>): HeldLog {
  const held = new Set<() => void>()
  const log = (line: string) => {
    const at = performance.now()
    const print = () => {
      clearTimeout(timer)
      held.delete(print)
      if (wasUpSince(at)) console.error(line)
    }
    const timer = setTimeout(print, holdMilliseconds)
    held.add(print)
  }
  const flush = () => {
    for (const print of held) print()
  }
  return { log, flush }
}
