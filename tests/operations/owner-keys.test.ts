/** The owner creates, revokes and replaces API keys, and each change holds at the next call. */
import { beforeAll, expect, test } from 'vitest'
import { createApiKey, credentialOf, shownPart } from '../../shared/auth/api-key.ts'
import { feedOf, ownerOf, type TestOwner } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import { actOfOwner, pepper, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

const daySeconds = 86_400

async function newKey() {
  const key = createApiKey('test', (length) => new Uint8Array(randomBytes(length)))
  return { key, digest: await credentialOf(key, pepper), shown: shownPart(key) }
}

async function make(owner: TestOwner, scope = 'read') {
  const { key, ...known } = await newKey()
  const order = { ...known, scope, label: 'shop', expires_in_days: 90 }
  const answer = await owner.call('owner_create_key', order)
  return { key, id: Array.isArray(answer) ? answer[0]?.['key'] : answer }
}

async function account() {
  const agent = await world.agent('read')
  return { agent, owner: await ownerOf(world, agent) }
}

const statusWith = async (key: string) =>
  (await world.send('/get-identity', { headers: { authorization: `Bearer ${key}` } })).status

test('a new key works with its scope until it expires', async () => {
  const { agent, owner } = await account()

  const { key } = await make(owner)
  const identity = await world.send('/get-identity', {
    headers: { authorization: `Bearer ${key}` },
  })

  expect(identity.body).toMatchObject({
    account_id: agent.id,
    credential: { label: 'shop', scopes: ['read'] },
  })
  await world.tick(90 * daySeconds - 60)
  expect(await statusWith(key)).toBe(200)
  await world.tick(61)
  expect(await statusWith(key)).toBe(401)
})

test('a revoked key is refused at its next call, and a second revocation tells nothing new', async () => {
  const { agent, owner } = await account()
  const { key, id } = await make(owner)
  const stale = await ownerOf(world, agent, 11)

  for (const time of ['first', 'second']) {
    expect(await stale.call('owner_revoke_key', { key: id }), time).toEqual([{ label: 'shop' }])
  }

  expect(await statusWith(key)).toBe(401)
  expect(await feedOf(world.db, agent)).toEqual(['api_key_created', 'api_key_revoked'])
})

test("a stranger's key is not to be seen, ended or replaced", async () => {
  const { owner } = await account()
  const { owner: stranger, agent } = await account()
  const { key, id } = await make(owner)

  const rotation = { key: id, expires_in_days: 90, overlap_hours: 24 }
  const { digest, shown } = await newKey()
  expect(await stranger.call('owner_revoke_key', { key: id })).toEqual([])
  expect(await stranger.call('owner_rotate_key', { ...rotation, digest, shown })).toEqual([])
  const listed = await stranger.call('owner_list_keys', { listed_max: 99 })
  expect(listed).toMatchObject([{ label: 'read', live: true }])

  expect(await statusWith(key)).toBe(200)
  expect(await feedOf(world.db, agent)).toEqual([])
})

test('a session is no key: it is not listed and not to be revoked as one', async () => {
  const { owner } = await account()
  const [{ id } = { id: '' }] = await world.db.sql<{ id: string }[]>`
    select id from private.credentials where digest = ${owner.credential}`

  expect(await owner.call('owner_revoke_key', { key: id })).toEqual([])
  expect(await owner.call('owner_list_keys', { listed_max: 99 })).toHaveLength(1)
})

test('a key is replaced with an overlap: both work, then the new one alone', async () => {
  const { agent, owner } = await account()
  const old = await make(owner, 'pay')
  await world.db.sql`insert into private.known_devices (account, key, fingerprint, session)
    values (${agent.id}, ${String(old.id)}, 'f', ${await actOfOwner(world.db, agent)})`
  const { key, ...known } = await newKey()

  const answer = await owner.call('owner_rotate_key', {
    key: old.id,
    ...known,
    expires_in_days: 90,
    overlap_hours: 24,
  })

  const placed = Array.isArray(answer) ? answer[0]?.['placed'] : undefined
  const rows = await world.db.sql`select label, scopes from private.credentials c
    join private.known_devices d on d.key = c.id where c.id = ${String(placed)}`
  expect(rows).toMatchObject([{ label: 'shop', scopes: ['pay'] }])
  expect([await statusWith(old.key), await statusWith(key)]).toEqual([200, 200])
  await world.tick(daySeconds + 1)
  expect([await statusWith(old.key), await statusWith(key)]).toEqual([401, 200])
})

test('an account has at most 20 keys in service, also when they are made at once', async () => {
  const { owner } = await account()

  const made = await Promise.all(Array.from({ length: 25 }, () => make(owner)))

  expect(made.filter(({ id }) => id !== null)).toHaveLength(19)
  const first = made.find(({ id }) => id !== null)
  await owner.call('owner_revoke_key', { key: first?.id })
  expect((await make(owner)).id).not.toBeNull()
})
