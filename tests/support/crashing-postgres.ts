/** A PostgreSQL of a test's own, with a migrated database, that can be crashed and comes back. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '../../scripts/local/postgres.ts'
import { migrate } from '../../scripts/migrate.ts'
import type { MigratedDatabase } from './database.ts'
import { atEnd } from './ending.ts'

export type CrashingPostgres = MigratedDatabase & {
  /** What `pg_ctl stop -m immediate` does, and a start that recovers from the log. */
  crash(): Promise<void>
}

/** Starts it for this file and ends it after the file. */
export async function openCrashingPostgres(): Promise<CrashingPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-crash-'))
  let server = await startEmbeddedPostgres({ directory })
  atEnd(async () => {
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const sql = postgres(server.url, { max: 1 })
  // The server dies and the kernel does not, which keeps all that was written to it.
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
