/** A key that is revoked while it waits for the account goes on to use and store secrets. */
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { ownerOf } from '../support/owner.ts'
import { approvePlace, entryOf } from '../support/vault-rows.ts'
import type { TestWorld } from '../support/world.ts'
import { pepper, start } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})
let other: postgres.Sql
beforeAll(() => { other = postgres(world.db.url, { max: 1, onnotice() {} }) })
async function oneWaits(): Promise<void> {
  const rows = () => world.db.sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await rows()).length, { timeout: 5_000 }).toBe(1)
}
async function house() {
  const agent = await world.agent('full')
  const other = await agent.withKey('vault')
  const credential = await credentialOf(other.key, pepper)
  const [row] = await world.db.sql`select id from private.credentials where digest=${credential}`
  return { agent, credential, key: String(row?.['id']), owner: await ownerOf(world, agent) }
}
test('a use that waited is booked after its key was revoked', async () => {
  const { agent, credential, key, owner } = await house()
  const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'mine' })
  await approvePlace(world, entry, { path: '/x', name: 'p' })
  const [p] = await world.db.sql`select id from private.vault_places where entry=${entry}`
  let late: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_revoke_key(${owner.credential}, ${key})`
    late = other`select api.vault_begin_use(${credential}, ${entry}, '{}', ${[String(p?.['id'])]}, 'POST /x') as used`.then((r)=>r, (e)=>String(e))
    await oneWaits().catch(async (e) => { console.log("NOWAIT", await Promise.race([late, new Promise((r) => setTimeout(() => r("pending"), 300))])); throw e })
  })
  expect(String(await late)).toContain('unauthorized')
})
test('a login that waited is stored after its key was revoked', async () => {
  const { agent, credential, key, owner } = await house()
  await entryOf(world, agent, { site: 'https://shop.example', password: 'mine' })
  let late: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_revoke_key(${owner.credential}, ${key})`
    late = other`select * from api.vault_commit_store(${credential}, ${randomUUID()}, 0, 'https://late.example', 'me', '{}', true, false, '{}', 'credential_stored')`.then((r)=>JSON.stringify(r), (e)=>String(e))
    await oneWaits().catch(async (e) => { console.log("NOWAIT", await Promise.race([late, new Promise((r) => setTimeout(() => r("pending"), 300))])); throw e })
  })
  expect(String(await late)).toContain('unauthorized')
})
test('a mandate that waited is asked for after its key was revoked', async () => {
  const { agent, owner } = await house()
  const credential = await credentialOf(agent.key, pepper)
  const [row] = await world.db.sql`select id from private.credentials where digest=${credential}`
  let late: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_revoke_key(${owner.credential}, ${String(row?.['id'])})`
    late = other`select * from api.create_mandate(${credential}, 'd', 'shop.example', false, '1000000', 3600)`.then((r)=>JSON.stringify(r), (e)=>String(e))
    await oneWaits().catch(async (e) => { console.log("NOWAIT", await Promise.race([late, new Promise((r) => setTimeout(() => r("pending"), 300))])); throw e })
  })
  expect(String(await late)).toContain('unauthorized')
})
