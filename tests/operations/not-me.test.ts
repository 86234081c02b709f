/** "It was not me" ends everything of the owner's account that was made since a time, and nothing older. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../scripts/local/chain.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { connectApp } from '../support/apps.ts'
import { keyWith } from '../support/capped.ts'
import { giveMandate } from '../support/mandates.ts'
import { endSince, keyIdOf, listSince, openHouse, timeNow } from '../support/not-me.ts'
import { feedOf, ownerOf, paymentOf } from '../support/owner.ts'
import { approveDestination, askDestination, entryOf } from '../support/vault-rows.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { pepper, start } from '../support/world.ts'

const order = { chain: 'base-sepolia', token: 'USDC', amount: '400' }
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Opens an account with money in it. */
async function openRichHouse() {
  const house = await openHouse(world)
  await fund(world.chain, house.agent.address, { usdcAtomic: 2_000_000_000n })
  return house
}

const statusOf = async (token: string) =>
  (await world.send('/get-identity', { headers: { authorization: `Bearer ${token}` } })).status

const mandateStates = async (account: string) =>
  Object.fromEntries(
    (await world.db.sql`select id, state from private.mandates where account = ${account}`).map(
      ({ id, state }) => [String(id), state],
    ),
  )

async function waiting(agent: Agent): Promise<string> {
  const recipient = (await world.agent('read')).address
  const { body } = await agent.post('/wallet-custodial-transfer', { ...order, recipient })
  return z.uuid().parse(body['transfer_id'])
}

async function link(agent: Agent): Promise<string> {
  const { body } = await agent.post('/create-hosted-action', { action_type: 'deposit' })
  return z.uuid().parse(body['action_id'])
}

const linkStatus = async (agent: Agent, id: string) =>
  (await agent.get(`/hosted-action-status?action_id=${id}`)).body['status']

test('apps, codes of apps, mandates, recipients and devices that were made since are over', async () => {
  const { agent, owner, account } = await openRichHouse()
  const [app, mandate] = [await connectApp(world, agent), await giveMandate(world, agent)]
  const friend = (await world.agent('read')).address
  await world.acquaint(agent, friend)
  const devices = () => world.db.sql`
    select key from private.known_devices where account = ${account} order by 1`
  const before = await devices()
  const since = await timeNow(world)
  const [theirApp, theirMandate] = [await connectApp(world, agent), await giveMandate(world, agent)]
  await world.db
    .sql`insert into private.oauth_codes (digest, account, asked, scopes, days, expires_at)
    values (${'c'.repeat(64)}, ${account}, '{}', '{read}', 30, private.clock() + interval '1 minute')`
  await keyWith(world, agent)
  const stranger = (await world.agent('read')).address
  await owner.call('owner_add_recipient', { address: stranger })

  await endSince(owner, since)

  expect([await statusOf(app.token), await statusOf(theirApp.token)]).toEqual([200, 401])
  expect(await mandateStates(account)).toEqual({
    [mandate.id]: 'active',
    [theirMandate.id]: 'revoked',
  })
  const { sql } = world.db
  const known = await sql`select address from private.known_recipients where account = ${account}`
  expect(known.map(({ address }) => String(address))).toEqual([friend])
  expect(await devices()).toEqual(before)
  const codes = await sql`select 1 from private.oauth_codes
    where account = ${account} and used_at is null`
  expect(codes).toHaveLength(0)
  expect(await feedOf(world.db, agent)).toContain('undone')
})

test('what waits since is closed, with what was approved since and is not paid, and links are declined', async () => {
  const { agent, owner } = await openRichHouse()
  const [before, approved, beforeLink] = [
    await waiting(agent),
    await waiting(agent),
    await link(agent),
  ]
  const since = await timeNow(world)
  await owner.decide(approved, 'approved')
  const [after, afterLink] = [await waiting(agent), await link(agent)]

  await endSince(owner, since)

  const states = [before, approved, after].map(async (id) => (await paymentOf(world.db, id)).state)
  expect(await Promise.all(states)).toEqual(['awaiting_confirmation', 'declined', 'declined'])
  expect([await linkStatus(agent, beforeLink), await linkStatus(agent, afterLink)]).toEqual([
    'pending',
    'declined',
  ])
})

test('logins and places of secrets that came since are gone, but for those of an older key', async () => {
  const { agent, owner, account } = await openRichHouse()
  const site = 'https://shop.example'
  const mine = await entryOf(world, agent, { site, password: 'my own' })
  const since = await timeNow(world)
  const login = { site: 'https://www.google.com', username: 'me', password: 'of the agent, long' }
  const kept = await agent.post('/vault-store', login)
  await entryOf(world, agent, { site: 'https://planted.example', password: 'planted' })
  await approveDestination(world, mine, { name: 'pass', path: '/login' })

  await endSince(owner, since)

  const { sql } = world.db
  const entries =
    await sql`select site from private.vault_entries where account = ${account} order by 1`
  expect(kept.status).toBe(200)
  expect(entries.map((row) => String(row['site']))).toEqual([site, 'https://www.google.com'])
  expect(
    await sql`select 1 from private.vault_destinations where account = ${account}`,
  ).toHaveLength(0)
})

test('a login that came since by a key that was revoked since is gone, whenever that key was made', async () => {
  const { agent, owner, account } = await openRichHouse()
  const other = await agent.withKey('vault')
  const since = await timeNow(world)
  const login = { username: 'me', password: 'of the thief, long' }
  await other.post('/vault-store', { ...login, site: 'https://www.google.com' })
  await agent.post('/vault-store', { ...login, site: 'https://www.wikipedia.org' })
  await owner.call('owner_revoke_key', { key: await keyIdOf(world, other) })

  await endSince(owner, since)

  const { sql } = world.db
  const entries = await sql`select site from private.vault_entries where account = ${account}`
  expect(entries.map((row) => String(row['site']))).toEqual(['https://www.wikipedia.org'])
})

test('a place of a secret that was asked for since waits no more, and one from before does', async () => {
  const { agent, owner, account } = await openRichHouse()
  const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'my own' })
  const credential = await credentialOf(agent.key, pepper)
  await askDestination(world, credential, entry, '/before')
  const since = await timeNow(world)
  await askDestination(world, credential, entry, '/since')

  await endSince(owner, since)

  const { sql } = world.db
  const places = await sql`select path from private.vault_destinations where account = ${account}`
  expect(places.map(({ path }) => String(path))).toEqual(['/before'])
})

test('a key that was made since freezes nothing, also where it was revoked before', async () => {
  const { agent, owner } = await openRichHouse()
  const older = await agent.withKey('read')
  const since = await timeNow(world)
  const theirs = await agent.withKey('read')
  for (const one of [older, theirs]) {
    await owner.call('owner_revoke_key', { key: await keyIdOf(world, one) })
  }

  await endSince(owner, since)

  expect((await theirs.post('/account-freeze', {})).status).toBe(401)
  expect((await older.post('/account-freeze', {})).status).toBe(200)
})

test('what was raised or permitted since goes back to what it was, and what is narrower stays', async () => {
  const { agent, owner, account } = await openRichHouse()
  const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'my own' })
  await owner.call('owner_set_takes_codes', { entry, takes: false })
  const { holder } = await keyWith(world, agent, { each: 5, day: 10 })
  const mandate = await giveMandate(world, agent)
  await owner.call('owner_suspend_mandate', { mandate: mandate.id, suspended: true })
  const since = await timeNow(world)
  const set = (limit_name: string, usd: number) =>
    owner.call('owner_set_limit', { limit_name, usd_micros: String(usd * 1e6) })
  await set('automatic_daily', 300)
  await set('automatic_daily', 9_000)
  await set('asserted_daily', 9_000)
  await set('asserted_daily', 50)
  await owner.call('owner_set_caps', { holder })
  await owner.call('owner_set_reads_secrets', { key: holder, reads: true })
  await owner.call('owner_set_shows_codes', { shows: true })
  await owner.call('owner_set_takes_codes', { entry, takes: true })
  await owner.call('owner_suspend_mandate', { mandate: mandate.id, suspended: false })

  await endSince(owner, since)

  const { sql } = world.db
  const [row] = await sql`select a.automatic_daily_limit_usd_micros::text as automatic,
      a.asserted_daily_limit_usd_micros::text as asserted, a.shows_codes,
      k.max_per_payment_usd_micros::text as each, k.max_per_day_usd_micros::text as daily,
      k.reads_secrets, e.takes_codes
    from private.accounts a join private.credentials k on k.id = ${holder}
    join private.vault_entries e on e.id = ${entry} where a.id = ${account}`
  expect(row).toEqual({
    automatic: '200000000',
    asserted: '50000000',
    shows_codes: false,
    each: '5000000',
    daily: '10000000',
    reads_secrets: false,
    takes_codes: false,
  })
  expect(await mandateStates(account)).toEqual({ [mandate.id]: 'suspended' })
})

test.each([
  ['a freeze that was lifted since is back', true],
  ['a freeze that began since, and was lifted, does not come back', false],
])('%s', async (_, isOlder) => {
  const { agent, owner, account } = await openHouse(world)
  const thief = await ownerOf(world, agent)
  const before = await timeNow(world)
  await owner.call('freeze_account', { listed_max: 1 })
  const since = await timeNow(world)
  expect(await thief.unfreeze()).toEqual([{ unfrozen: true }])

  await endSince(owner, isOlder ? since : before)

  const [row] = await world.db.sql`
    select frozen_at is not null as is_frozen from private.accounts where id = ${account}`
  expect(row?.['is_frozen']).toBe(isOlder)
})

test('every other session ends, and the one that did it goes on under another id alone', async () => {
  const { agent, owner } = await openRichHouse()
  const other = await ownerOf(world, agent)
  const was = owner.credential

  await endSince(owner, await timeNow(world))

  expect(await other.call('owner_security')).toEqual({ refused: 'unauthorized' })
  const asked = world.world.db.call('owner_security', { credential: was })
  await expect(asked).rejects.toThrow('unauthorized')
  const now = world.world.db.call('owner_security', { credential: owner.credential })
  expect(await now).toHaveLength(1)
})

test('a password that is set anew has to come with it, or nothing ends', async () => {
  const { owner } = await openRichHouse()
  const { counts_from: since, until, digest } = await listSince(owner, await timeNow(world))
  const shown = { since, until, digest }

  const ended = await owner.call('owner_end_made', { ...shown, session_digest: 'f'.repeat(64) })

  expect(ended).toEqual({ refused: 'invalid_request' })
})
