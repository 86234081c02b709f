/**
 * What a file opens, it closes when it is over, wherever it was opened: a hook that is registered
 * inside another hook or a test would never run, and the process goes on to the next file.
 */
import { afterAll } from 'vitest'

const open: (() => unknown)[] = []

/** Does this after the file, the last one first. */
export function atEnd(work: () => unknown): void {
  open.push(work)
}

/** Of the setup of each file, before anything can be opened. */
export function endAfterFile(): void {
  afterAll(async () => {
    const failures: unknown[] = []
    for (let work = open.pop(); work; work = open.pop()) {
      try {
        await work()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  })
}

/** Does this and ends at once what it opened. */
export async function closing<Result>(run: () => Promise<Result>): Promise<Result> {
  const before = open.length
  try {
    return await run()
  } finally {
    while (open.length > before) await open.pop()?.()
  }
}
