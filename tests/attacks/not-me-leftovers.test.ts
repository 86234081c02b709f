/** What "it was not me" leaves or takes wrongly. */
import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { TestOwner } from '../support/owner.ts'
import { ownerOf } from '../support/owner.ts'
import { entryOf } from '../support/vault-rows.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { pepper, start } from '../support/world.ts'

const list = z.tuple([z.object({ counts_from: z.string(), until: z.string(), digest: z.string(),
  made: z.array(z.object({ kind: z.string(), id: z.string(), name: z.string() })),
  removed_passkeys: z.array(z.object({ id: z.string() })) })])
let world: TestWorld
beforeAll(async () => {
  world = await start()
})
const hex = () => randomBytes(32).toString('hex')
async function openHouse() {
  const agent = await world.agent('full')
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${agent.id}, ${`${agent.alias}@people.example`}, 'a hash')`
  await world.tick(86_400)
  const since = String((await world.db.sql`select private.clock()::text as at`)[0]?.['at'])
  await world.tick(1)
  return { agent, since, owner: await ownerOf(world, agent), thief: await ownerOf(world, agent) }
}
const keyIdOf = async ({ key }: Agent) => {
  const digest = await credentialOf(key, pepper)
  return String((await world.db.sql`select id from private.credentials where digest = ${digest}`)[0]?.['id'])
}
const listed = async (owner: TestOwner, since: string) =>
  list.parse(await owner.call('owner_list_made', { since }))[0]
async function end(owner: TestOwner, since: string) {
  const { counts_from, until, digest } = await listed(owner, since)
  const session_digest = hex()
  const ended = await owner.call('owner_end_made', { since: counts_from, until, digest, session_digest, password_hash: 'another' })
  expect(ended).toMatchObject([{ outcome: 'ended' }])
  owner.credential = session_digest
}
const commit = (credential: string, entry: string, version: number, site: string, username = 'me') =>
  world.db.sql`select * from api.vault_commit_store(${credential}, ${entry}, ${version}, ${site}, ${username}, '{}', true, false, '{}', 'credential_stored')`

test('a login that a thief changed takes codes of mails no more', async () => {
  const { agent, since, owner, thief } = await openHouse()
  await world.tick(-10)
  const [entry] = [randomUUID()]
  const key = await credentialOf(agent.key, pepper)
  await entryOf(world, agent, { site: 'https://other.example', password: 'x' })
  await commit(key, entry, 0, 'https://evil.example')
  await world.db.sql`update private.vault_entries set created_at = created_at - interval '1 day' where account = ${agent.id}`
  await world.tick(20)
  await commit(thief.credential, entry, 1, 'https://evil.example')
  await end(owner, since)
  const [row] = await world.db.sql`select takes_codes from private.vault_entries where id=${entry}`
  expect(row?.['takes_codes']).toBe(false)
})
test('logins of an honest key that a thief replaced are not of the thief', async () => {
  const { agent, since, owner, thief } = await openHouse()
  await entryOf(world, agent, { site: 'https://other.example', password: 'x' })
  await world.db.sql`update private.vault_entries set created_at = created_at - interval '1 day' where account = ${agent.id}`
  const entry = randomUUID()
  await commit(await credentialOf(agent.key, pepper), entry, 0, 'https://honest.example')
  await world.tick(60)
  await thief.call('owner_rotate_key', { key: await keyIdOf(agent), digest: hex(), shown: 'aoa_test_x', expires_in_days: 30, overlap_hours: 24 })
  const { made } = await listed(owner, since)
  console.log(JSON.stringify(made))
  expect(made.map(({ id }) => id)).not.toContain(entry)
})
test('logins of an honest key that a thief revoked are not of the thief', async () => {
  const { agent, since, owner, thief } = await openHouse()
  await entryOf(world, agent, { site: 'https://other.example', password: 'x' })
  await world.db.sql`update private.vault_entries set created_at = created_at - interval '1 day' where account = ${agent.id}`
  const entry = randomUUID()
  await commit(await credentialOf(agent.key, pepper), entry, 0, 'https://honest.example')
  await world.tick(60)
  await thief.call('owner_revoke_key', { key: await keyIdOf(agent) })
  const { made } = await listed(owner, since)
  expect(made.map(({ id }) => id)).not.toContain(entry)
})
test('a login that the owner corrected in this session is not of somebody else', async () => {
  const { agent, since, owner } = await openHouse()
  await entryOf(world, agent, { site: 'https://other.example', password: 'x' })
  await world.db.sql`update private.vault_entries set created_at = created_at - interval '1 day' where account = ${agent.id}`
  const entry = randomUUID()
  await commit(await credentialOf(agent.key, pepper), entry, 0, 'https://honest.example')
  await world.tick(60)
  await commit(owner.credential, entry, 1, 'https://honest.example')
  const { made } = await listed(owner, since)
  expect(made.map(({ id }) => id)).not.toContain(entry)
})
test('renaming a passkey again and again does not keep the owner from ending', async () => {
  const { agent, since, owner, thief } = await openHouse()
  await world.db.sql`insert into private.passkeys (id, account, public_key, counter, transports, label, is_first)
    values (${`p${agent.alias}`}, ${agent.id}, 'x', 0, '{}', 'theirs', true)`
  await world.tick(60)
  const { counts_from, until, digest } = await listed(owner, since)
  await world.db.sql`update private.sessions set proven_at='-infinity' where credential=(select id from private.credentials where digest=${thief.credential})`
  await world.db.sql`select api.owner_rename_passkey(${thief.credential}, ${`p${agent.alias}`}, 'again')`
  const ended = await owner.call('owner_end_made', { since: counts_from, until, digest, session_digest: hex(), password_hash: 'another' })
  expect(ended).toMatchObject([{ outcome: 'ended' }])
})
test('a key that deletes logins does not keep the owner from ending', async () => {
  const { agent, since, owner } = await openHouse()
  await entryOf(world, agent, { site: 'https://other.example', password: 'x' })
  const theirs = await agent.withKey('vault')
  const credential = await credentialOf(theirs.key, pepper)
  const [a, b] = [randomUUID(), randomUUID()]
  await commit(credential, a, 0, 'https://a.example')
  await commit(credential, b, 0, 'https://b.example')
  await world.tick(60)
  const { counts_from, until, digest, made } = await listed(owner, since)
  expect(made.length).toBeGreaterThan(2)
  await world.db.sql`select * from api.delete_vault_entry(${credential}, ${a})`
  const ended = await owner.call('owner_end_made', { since: counts_from, until, digest, session_digest: hex(), password_hash: 'another' })
  expect(ended).toMatchObject([{ outcome: 'ended' }])
})
test('passkeys that a password took away can be taken back', async () => {
  const { agent, owner, thief } = await openHouse()
  const id = `q${agent.alias}`
  await world.db.sql`insert into private.passkeys (id, account, public_key, counter, transports, label, is_first, created_at)
    values (${id}, ${agent.id}, 'x', 0, '{}', 'mine', true, private.clock() - interval '30 days')`
  const since = String((await world.db.sql`select private.clock()::text as at`)[0]?.['at'])
  await world.tick(5)
  await world.db.sql`update private.sessions set signed_in_with='recovery_code', proven_at='-infinity'
    where credential = (select id from private.credentials where digest=${thief.credential})`
  await world.db.sql`select api.owner_lose_passkeys(${thief.credential})`
  await world.tick(73 * 3600)
  const thief2 = await ownerOf(world, agent)
  console.log(JSON.stringify(await thief2.call('owner_prove', { password_hash: 'a hash', session_digest: hex() })))
  await world.tick(60)
  const owner2 = await ownerOf(world, agent)
  const { removed_passkeys } = await listed(owner2, since)
  expect(removed_passkeys.map(({ id }) => id)).toContain(id)
  void owner
})
test('a list of very many raises can be shown', async () => {
  const { agent, since, owner, thief } = await openHouse()
  const began = Date.now()
  for (let at = 1; at <= 20; at += 1) await thief.call('owner_set_limit', { limit_name: 'automatic_daily', usd_micros: String(200_000_000 + at) })
  console.log('20 raises ms', Date.now() - began)
  await world.db.sql`insert into private.widenings (account, kind, subject, before, summary)
    select ${agent.id}, 'limit', 'automatic_daily', '{"micros":"200000000"}', 'The daily limit for payments without confirmation: raised from 200 USD' from generate_series(1, 40000)`
  await world.tick(60)
  const t = Date.now()
  const shown = await owner.call('owner_list_made', { since })
  console.log('list ms', Date.now() - t, JSON.stringify(shown).length)
  const t2 = Date.now()
  await end(owner, since)
  console.log('list+end ms', Date.now() - t2)
})
