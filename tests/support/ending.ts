/**
 * What a file opens, it closes when it is over, wherever it was opened: a hook that is registered
 * inside another hook or a test would never run, and the process goes on to the next file.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll } from 'vitest'

type Endings = (() => unknown)[]

const ofFile: Endings = []
/** What runs beside others ends what it opened itself, and nothing of theirs. */
const ofRun = new AsyncLocalStorage<Endings>()

/** Does this after the file, the last one first. */
export function atEnd(work: () => unknown): void {
  const endings = ofRun.getStore() ?? ofFile
  endings.push(work)
}

/** Of the setup of each file, before anything can be opened. */
export function endAfterFile(): void {
  afterAll(async () => {
    const failures: unknown[] = []
    for (let work = ofFile.pop(); work; work = ofFile.pop()) {
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
export function closing<Result>(run: () => Promise<Result>): Promise<Result> {
  const opened: Endings = []
  return ofRun.run(opened, async () => {
    try {
      return await run()
    } finally {
      for (let work = opened.pop(); work; work = opened.pop()) await work()
    }
  })
}
