/** One PostgreSQL for a whole test run, with a migrated template that each test file copies. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../../scripts/local/postgres.ts'
import { migrate } from '../../scripts/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the server's own database; tests create theirs as copies of `aoa_template`. */
    postgresUrl: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-test-'))
  const server = await startPostgres({ directory, durable: false })
  const end = async () => {
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await makeTemplate(server.url)
  } catch (error) {
    await end()
    throw error
  }
  project.provide('postgresUrl', server.url)
  return end
}

async function makeTemplate(serverUrl: string) {
  const sql = postgres(serverUrl, { max: 1, onnotice() {} })
  await sql.unsafe('drop database if exists aoa_template with (force)')
  await sql.unsafe('create database aoa_template')
  await sql.end()
  const template = new URL(serverUrl)
  template.pathname = '/aoa_template'
  await migrate(template.href)
}
