/**
 * PostgreSQL for as long as a world lasts. A server that ends by itself is started again with the same data
 * on the same port, so that connection pools find it. After too many quick ends it is given up.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Postgres,
  type PostgresOptions,
  restartEmbeddedPostgres,
  startPostgres,
} from './postgres.ts'

const startsMax = 5
const pauseMilliseconds = 200
/** Running time after which a server counts as steady; an earlier end uses up one of `startsMax` starts. */
const steadyMilliseconds = 60_000

/** Settings of a server. */
export type LastingOptions = {
  /** Directory that holds the data in a directory of its own. */
  directory: string
  /** Password of the superuser, as for startPostgres. */
  password?: string
  /** Signal after which nothing is started again. */
  signal: AbortSignal
  say: (line: string) => void
}

/** A server that is brought back when it ends. */
export type LastingPostgres = Pick<Postgres, 'url' | 'stop'> & {
  /** Decides whether one server has run since a moment of `performance.now()` and still does. */
  wasUpSince: (milliseconds: number) => boolean
  /** Resolves with the reason once the server is gone for good; pending while it can be restarted. */
  lost: Promise<string>
}

/** Starts the server and watches it. */
export async function startLastingPostgres(options: LastingOptions): Promise<LastingPostgres> {
  const { directory, password, signal, say } = options
  const data = join(directory, 'postgres')
  const first = await startFirst({ directory: data, password }, join(directory, 'postgres.new'))
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

/** Starts over if `marker` shows that a first start was killed: that database is incomplete and empty. */
async function startFirst(options: PostgresOptions, marker: string): Promise<Postgres> {
  const { directory: data } = options
  if (existsSync(marker)) rmSync(data, { recursive: true, force: true })
  if (!existsSync(data)) writeFileSync(marker, '')
  const server = await startPostgres(options)
  rmSync(marker, { force: true })
  return server
}
