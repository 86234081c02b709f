/** What ends with a key or app, where it took the place of another. */
import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { ownerOf } from '../support/owner.ts'
import { askPlace, entryOf } from '../support/vault-rows.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { pepper, start } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})
const hex = () => randomBytes(32).toString('hex')
const keyIdOf = async ({ key }: Agent) => {
  const digest = await credentialOf(key, pepper)
  return String((await world.db.sql`select id from private.credentials where digest = ${digest}`)[0]?.['id'])
}
async function house() {
  const agent = await world.agent('full')
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${agent.id}, ${`${agent.alias}@people.example`}, 'a hash')`
  await world.tick(60)
  return { agent, owner: await ownerOf(world, agent) }
}
async function rotated() {
  const { agent, owner } = await house()
  const old = await keyIdOf(agent)
  const digest = hex()
  const answer = await owner.call('owner_rotate_key', { key: old, digest, shown: 'aoa_test_x', expires_in_days: 30, overlap_hours: 0 })
  const placed = Array.isArray(answer) ? String(answer[0]?.['placed']) : ''
  return { agent, owner, old, placed, digest }
}
test('a key that was replaced at once can freeze for three days', async () => {
  const { agent } = await rotated()
  const { status } = await agent.post('/account-freeze', {})
  expect(status).toBe(200)
})
test('places that the first key asked for go when its successor is revoked', async () => {
  const { agent, owner } = await house()
  const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'mine' })
  const old = await keyIdOf(agent)
  await askPlace(world, await credentialOf(agent.key, pepper), entry, '/of-the-first')
  const answer = await owner.call('owner_rotate_key', { key: old, digest: hex(), shown: 'aoa_test_x', expires_in_days: 30, overlap_hours: 0 })
  const placed = Array.isArray(answer) ? String(answer[0]?.['placed']) : ''
  await owner.call('owner_revoke_key', { key: placed })
  expect(await world.db.sql`select path from private.vault_places where account = ${agent.id}`).toHaveLength(0)
})
test('whom the first key made known is listed when its successor is revoked', async () => {
  const { agent, owner, old, placed } = await rotated()
  const payee = (await world.agent('read')).address
  await world.db.sql`
    with c as (insert into private.consents (account, session, level, digest, asked_at)
      select ${agent.id}, s.id, 'user_session', ${hex()}, private.clock() from private.credentials s where s.digest = ${owner.credential} returning id, session)
    insert into private.known_recipients (account, chain_family, address, session, consent, asked_by)
    select ${agent.id}, 'evm', ${payee}, c.session, c.id, ${old} from c`
  await owner.call('owner_revoke_key', { key: placed })
  const listed = await owner.call('owner_list_recipients', { listed_max: 10, asked_by: placed })
  expect(listed).toHaveLength(1)
  await owner.call('owner_forget_known_by', { key: placed })
  expect(await world.db.sql`select from private.known_recipients where account = ${agent.id}`).toHaveLength(0)
})
test('mails of the first grant of an app leave no more when the second is disconnected', async () => {
  const { agent, owner } = await house()
  const [first] = await world.db.sql`insert into private.credentials (account, kind, label, shown, scopes, expires_at)
    values (${agent.id}, 'oauth', 'App', 'app.example', '{pay}', private.clock() + interval '90 days') returning id`
  await world.db.sql`insert into private.oauth_grants (credential, client_id, redirect_host) values (${String(first?.['id'])}, 'c', 'app.example')`
  const mail = randomUUID()
  await world.db.sql`insert into private.mails (id, account, direction, from_address, digest, size, room,
      sealed_head, sealed_body) values (${mail}, ${agent.id}, 'out', 'a@shop.example', ${hex()}, 1, 1, '{}', '{}')`
  await world.db.sql`insert into private.outbox (id, account, to_address, topic, carries, sent_by, sealed)
    values (gen_random_uuid(), ${agent.id}, 'a@people.example', 'agent_mail', ${mail}, ${String(first?.['id'])}, 'x')`
  await world.db.sql`select private.end_grant(${String(first?.['id'])}, 'replaced')`
  const [second] = await world.db.sql`insert into private.credentials (account, kind, label, shown, scopes, expires_at, shares_budget_of)
    values (${agent.id}, 'oauth', 'App', 'app.example', '{pay}', private.clock() + interval '90 days', ${String(first?.['id'])}) returning id`
  await world.db.sql`insert into private.oauth_grants (credential, client_id, redirect_host) values (${String(second?.['id'])}, 'c', 'app.example')`
  await owner.call('owner_disconnect_apps', { app: String(second?.['id']) })
  const taken = await world.db.sql`select * from (select (api.mailer_claim(100)).*) m where m.address = 'a@people.example'`
  expect(taken).toHaveLength(0)
})
test('logins of an app that was let in anew and then disconnected are listed', async () => {
  const { agent, owner } = await house()
  const since = String((await world.db.sql`select private.clock()::text as at`)[0]?.['at'])
  const [first] = await world.db.sql`insert into private.credentials (account, kind, label, shown, scopes, expires_at, created_at)
    values (${agent.id}, 'oauth', 'App', 'app.example', '{vault}', private.clock() + interval '90 days', private.clock() - interval '9 days') returning id`
  await world.db.sql`insert into private.oauth_grants (credential, client_id, redirect_host) values (${String(first?.['id'])}, 'c', 'app.example')`
  await world.tick(2)
  const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'mine' })
  await world.db.sql`update private.vault_entries set created_by = ${String(first?.['id'])} where id = ${entry}`
  await world.db.sql`select private.end_grant(${String(first?.['id'])}, 'replaced')`
  const [second] = await world.db.sql`insert into private.credentials (account, kind, label, shown, scopes, expires_at, shares_budget_of)
    values (${agent.id}, 'oauth', 'App', 'app.example', '{vault}', private.clock() + interval '90 days', ${String(first?.['id'])}) returning id`
  await world.db.sql`insert into private.oauth_grants (credential, client_id, redirect_host) values (${String(second?.['id'])}, 'c', 'app.example')`
  await owner.call('owner_disconnect_apps', { app: String(second?.['id']) })
  const answer = await owner.call('owner_list_made', { since })
  expect(JSON.stringify(answer)).toContain(entry)
})
