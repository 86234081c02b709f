/**
 * Remembers what was started and ends it in reverse order, whatever failed in between. A start that is
 * aborted waits for the steps under way, because only then is it known what they left behind.
 */
import { setTimeout as pause } from 'node:timers/promises'

const endTimeoutMilliseconds = 12_000

/** The things that were started and how each of them ends. */
export type Endings = {
  /** Remembers how to end a thing as soon as it runs. Rejects if the start was aborted. */
  keep<Thing>(starting: Promise<Thing>, end: (thing: Thing) => Promise<void>): Promise<Thing>
  /** Ends everything. Rejects if something did not end in time. */
  endAll(): Promise<void>
}

/** Returns an empty list of endings, for a start that `signal` can abort. */
export function createEndings(signal: AbortSignal): Endings {
  const stack: (() => Promise<void>)[] = []
  return {
    async keep(starting, end) {
      const thing = await starting
      stack.push(() => end(thing))
      signal.throwIfAborted()
      return thing
    },
    async endAll() {
      const failures: string[] = []
      for (let end = stack.pop(); end; end = stack.pop()) {
        await bounded(end()).catch((error: unknown) => failures.push(String(error)))
      }
      if (failures.length > 0) throw new Error(`did not stop: ${failures.join('; ')}`)
    },
  }
}

async function bounded(ending: Promise<void>): Promise<void> {
  const late = new AbortController()
  const timeout = pause(endTimeoutMilliseconds, undefined, { signal: late.signal }).then(() => {
    throw new Error(`not ended after ${endTimeoutMilliseconds} ms`)
  })
  try {
    await Promise.race([ending, timeout])
  } finally {
    late.abort()
    timeout.catch(() => {})
  }
}

/** Waits for all, even if one fails, and then rejects with the first failure. */
export async function together<Things extends readonly unknown[] | []>(
  things: Things,
): Promise<{ -readonly [Index in keyof Things]: Awaited<Things[Index]> }> {
  await Promise.allSettled(things)
  return Promise.all(things)
}
