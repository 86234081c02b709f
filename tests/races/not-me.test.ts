/** "It was not me" leaves nothing of what a thief does at the same moment. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { asking } from '../support/authority/widening-questions.ts'
import type { TestOwner } from '../support/owner.ts'
import { ownerOf } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import type { TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

const listed = z.tuple([
  z.object({ counts_from: z.string(), until: z.string(), digest: z.string() }),
])
const digest = () => randomBytes(32).toString('hex')

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

async function openHouse() {
  const agent = await world.agent('full')
  const email = `${agent.alias}@people.example`
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${agent.id}, ${email}, 'a hash')`
  await world.tick(86_400)
  return { agent, email, owner: await ownerOf(world, agent), thief: await ownerOf(world, agent) }
}

/** Returns the call that ends everything made in the last hour. */
async function ending(owner: TestOwner) {
  const since = new Date(world.world.now().getTime() - 3_600_000).toISOString()
  const [shown] = listed.parse(await owner.call('owner_list_made', { since }))
  const { counts_from, until } = shown
  return {
    since: counts_from,
    until,
    digest: shown.digest,
    session_digest: digest(),
    password_hash: 'another hash',
  }
}

async function waiting(count: number): Promise<void> {
  const rows = () => world.db.sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await rows()).length).toBe(count)
}

test('who is just signing in with the password is out as well', async () => {
  const { email, owner } = await openHouse()
  const question = await ending(owner)
  const session = digest()
  let ended: Promise<unknown> = Promise.resolve()

  await world.db.sql.begin(async (thief) => {
    await thief`select from api.login_with_password(${email}, 'a hash', ${session}, '', '')`
    ended = owner.call('owner_end_made', question)
    await waiting(1)
  })

  expect(await ended).toMatchObject([{ outcome: 'ended' }])
  const [row] = await world.db.sql`
    select revoked_at from private.credentials where digest = ${session}`
  expect(row?.['revoked_at']).not.toBeNull()
})

test('who is just signing in with a passkey that is being ended does not get in', async () => {
  const { agent, owner } = await openHouse()
  await world.db.sql`insert into private.passkeys
    (id, account, public_key, counter, transports, label, is_first)
    values ('of-a-thief', ${agent.id}, 'key', 0, '{}', 'Phone', true)`
  await world.db.sql`update private.owners set passkeys_lost_at = private.clock()
    where account = ${agent.id}`
  await world.tick(60)
  const question = await ending(owner)
  const session = digest()
  const challenge = randomBytes(32).toString('base64url')
  let ended: Promise<unknown> = Promise.resolve()
  let opened: Promise<unknown> = Promise.resolve()

  await world.db.sql.begin(async (other) => {
    await other`select from private.owners where account = ${agent.id} for no key update`
    ended = owner.call('owner_end_made', question)
    await waiting(1)
    const proof = { passkey: 'of-a-thief', counter_seen: '0', counter_now: '1', challenge }
    const browser = { session_digest: session, user_agent: '', client: '' }
    opened = world.world.db.call('login_with_passkey', { ...proof, ...browser })
    await waiting(2)
  })

  expect(await ended).toMatchObject([{ outcome: 'ended' }])
  expect(await opened).toEqual([])
})

test('what a session that is ended was about to widen stays as it is', async () => {
  const { agent, owner, thief } = await openHouse()
  const { since, until, digest: shown, session_digest } = await ending(owner)
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  let late: Promise<unknown> = Promise.resolve()

  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_end_made(${owner.credential}, ${since}::text::timestamptz,
      ${until}::text::timestamptz, ${shown},
      ${session_digest}, password_hash => 'another hash')`
    late = thief.call('owner_add_recipient', { address })
    await waiting(1)
  })

  expect(await late).toEqual({ refused: 'unauthorized' })
  const known = await world.db.sql`
    select address from private.known_recipients where account = ${agent.id}`
  expect(known).toHaveLength(0)
})

test('an app that a session was just letting in does not begin', async () => {
  const { agent, owner, thief } = await openHouse()
  const question = await ending(owner)
  const code = digest()
  let ended: Promise<unknown> = Promise.resolve()

  await world.db.sql.begin(async (session) => {
    await session`select api.owner_grant_access(${thief.credential}, ${code},
      ${session.json(asking)}, '{read}', '{read}', 180)`
    ended = owner.call('owner_end_made', question)
    await waiting(1)
  })
  expect(await ended).toMatchObject([{ outcome: 'ended' }])
  const redeemed = await world.world.db.call('oauth_redeem_code', {
    code_digest: code,
    client_id: asking.client_id,
    challenge: asking.challenge,
    access_digest: digest(),
    refresh_digest: digest(),
  })

  expect(redeemed).toMatchObject([{ outcome: 'invalid_grant' }])
  const apps = await world.db.sql`
    select id from private.credentials where account = ${agent.id} and kind = 'oauth'`
  expect(apps).toHaveLength(0)
})
