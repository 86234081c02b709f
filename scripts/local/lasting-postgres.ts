/**
 * PostgreSQL for as long as a world lasts: one that ends by itself is started again with the same data
 * on the same port, so that pools of connections find it. What keeps ending is given up.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Postgres, restartEmbeddedPostgres, startPostgres } from './postgres.ts'

const startsMax = 5
const pauseMilliseconds = 200
/** An end sooner than this after a start is one more of the same, and counts with it. */
const steadyMilliseconds = 60_000

export type LastingOptions = {
  /** Holds the data in a directory of their own. */
  directory: string
  /** Nothing is started again once it aborts. */
  signal: AbortSignal
  say: (line: string) => void
}

export type LastingPostgres = Pick<Postgres, 'url' | 'stop'> & {
  /** Tells whether one server has run since a moment of `performance.now()` and still does. */
  wasUpSince: (milliseconds: number) => boolean
  /** Why the server is gone for good; never settles while it can be brought back. */
  lost: Promise<string>
}

export async function startLastingPostgres(options: LastingOptions): Promise<LastingPostgres> {
  const { directory, signal, say } = options
  const data = join(directory, 'postgres')
  const first = await startFirst(data, join(directory, 'postgres.new'))
  const stopping = new AbortController()
  const isOver = () => signal.aborted || stopping.signal.aborted
  let server = first
  let upSince: number | undefined = performance.now()

  const bringBack = async (left: number): Promise<string | undefined> => {
    if (isOver()) return undefined
    if (left === 0) return 'PostgreSQL ended, and did not last when it was started again.'
    try {
      server = await restartEmbeddedPostgres(data, first.port)
    } catch {
      await pause(pauseMilliseconds)
      return bringBack(left - 1)
    }
    upSince = performance.now()
    if (isOver()) await server.stop()
    else say('PostgreSQL had ended and was started again')
    return watch(left - 1)
  }
  const watch = async (left: number): Promise<string | undefined> => {
    const began = performance.now()
    await server.ended
    upSince = undefined
    const isSteady = performance.now() - began > steadyMilliseconds
    return bringBack(isSteady ? startsMax : left)
  }

  const watching = watch(startsMax)
  const lost = new Promise<string>((resolve) => {
    void watching.then((why) => why !== undefined && resolve(why))
  })
  const stop = async () => {
    stopping.abort()
    await server.stop()
    await watching
  }
  const wasUpSince = (at: number) => upSince !== undefined && upSince <= at
  return { url: first.url, stop, lost, wasUpSince }
}

/** A first start that was killed left half a database, in which nothing can be yet: `marker` tells. */
async function startFirst(data: string, marker: string): Promise<Postgres> {
  if (existsSync(marker)) rmSync(data, { recursive: true, force: true })
  if (!existsSync(data)) writeFileSync(marker, '')
  const server = await startPostgres({ directory: data })
  rmSync(marker, { force: true })
  return server
}
