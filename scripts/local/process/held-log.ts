/**
 * Prints the log of the functions one second late. A function notices that its database has ended before
 * the world does. By then the world knows, and leaves out lines from the time without a database.
 */
import type { LastingPostgres } from '../lasting-postgres.ts'

const holdMilliseconds = 1_000

/** A log that holds each line back for a second. */
export type HeldLog = {
  log: (line: string) => void
  /** Prints at once all lines that still wait. */
  flush: () => void
}

/** Opens a log that leaves out lines for which `wasUpSince` is false. */
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
