import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../scripts/local/gateway.ts'
import { type Postgres, startEmbeddedPostgres } from '../../scripts/local/postgres.ts'
import { clientOf, project } from '../support/database.ts'

let directory: string
let server: Postgres
let gateway: Gateway

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'aoa-outage-'))
  server = await startEmbeddedPostgres({ directory, durable: false })
  const sql = postgres(server.url, { max: 1 })
  await sql.unsafe(`create role service_role; create role authenticator noinherit;
    grant service_role to authenticator; create schema api; grant usage on schema api to public;
    create function api.one() returns int language sql as 'select 1'`)
  await sql.end()
  gateway = await startGateway({ databaseUrl: server.url, schema: 'api', keys: project.keys })
})

afterEach(async () => {
  await gateway.close()
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

test('answers 503 while the database is down and recovers without a restart', async () => {
  const client = clientOf(gateway.url, project.tokens.service_role)
  const before = await client.rpc('one')

  await server.stop()
  const during = await Promise.all([client.rpc('one'), client.rpc('one')])
  server = await startEmbeddedPostgres({ directory, port: server.port, durable: false })

  expect(before.data).toBe(1)
  expect(during.map(({ status }) => status)).toEqual([503, 503])
  expect(during.map(({ error }) => error?.code).join()).toMatch(
    /^(PGRST000|57P0\d),(PGRST000|57P0\d)$/,
  )
  await expect.poll(async () => (await client.rpc('one')).status).toBe(200)
})

test('a taken port is named in the error', async () => {
  const other = mkdtempSync(join(tmpdir(), 'aoa-outage-'))

  const start = startEmbeddedPostgres({ directory: other, port: server.port, durable: false })

  await expect(start).rejects.toThrow(`port ${server.port} is taken`)
  rmSync(other, { recursive: true })
})
