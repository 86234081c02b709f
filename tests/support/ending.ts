/**
 * Closes at the end of a test file whatever the file opened, wherever it was opened. A hook that is
 * registered inside another hook or a test would never run, and the process continues with the next file.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll } from 'vitest'

type Endings = (() => unknown)[]

const ofFile: Endings = []
/** Endings of one run among parallel ones; a run ends only what it opened itself. */
const ofRun = new AsyncLocalStorage<Endings>()

/** Registers work to do after the file; the last registered runs first. */
export function atEnd(work: () => unknown): void {
  const endings = ofRun.getStore() ?? ofFile
  endings.push(work)
}

/** Registers the hook that ends everything. The setup of each file calls it before anything is opened. */
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

/** Runs a function and then ends at once what it opened. */
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
