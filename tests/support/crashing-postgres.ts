/** A PostgreSQL server with a migrated database for one test, which can be crashed and restarted. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '../../scripts/local/postgres.ts'
import { migrate } from '../../scripts/migrate.ts'
import type { MigratedDatabase } from './database.ts'
import { atEnd } from './ending.ts'

export type CrashingPostgres = MigratedDatabase & {
  /** Runs `pg_ctl stop -m immediate` and starts the server again, which recovers from the log. */
  crash(): Promise<void>
}

/** Starts the server for this file and ends it after the file. */
export async function openCrashingPostgres(): Promise<CrashingPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-crash-'))
  let server = await startEmbeddedPostgres({ directory })
  atEnd(async () => {
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const sql = postgres(server.url, { max: 1 })
  // The server crashes and the kernel does not, so everything written survives without fsync.
  await sql.unsafe('alter system set fsync = off')
  await sql.unsafe('select pg_reload_conf()')
  await sql.unsafe('create database crashing')
  await sql.end()
  const url = new URL(server.url)
  url.pathname = '/crashing'
  await migrate(url.href)
  return {
    url: url.href,
    drop: async () => {},
    async crash() {
      const [postmaster] = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(postmaster), 'SIGQUIT')
      await server.stop()
      server = await startEmbeddedPostgres({ directory, port: server.port })
    },
  }
}
