/** A session or key that is ended while it waits for the account does nothing more. */
import postgres from 'postgres'
import { beforeAll, describe, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { waitingPayment } from '../support/consents.ts'
import { atEnd } from '../support/ending.ts'
import { askMandate } from '../support/mandates.ts'
import { digestTicked, ownerOf, type TestOwner } from '../support/owner.ts'
import { randomBytes, randomUUID } from '../support/seed.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, pepper, start, type TestWorld } from '../support/world.ts'

const digest = () => randomBytes(32).toString('hex')
const unauthorized = { refused: 'unauthorized' }

let world: TestWorld
let late: postgres.Sql
beforeAll(async () => {
  world = await start()
  late = postgres(world.db.url, { max: 1, onnotice() {} })
  atEnd(() => late.end({ timeout: 1 }))
})

async function oneWaits(): Promise<void> {
  const rows = () => world.db.sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await rows()).length).toBe(1)
}

async function openHouse(): Promise<Agent> {
  const agent = await world.agent('full')
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${agent.id}, ${`${agent.alias}@people.example`}, 'a hash')`
  await world.tick(3_600)
  return agent
}

/** Returns the answer to another session's call that began just before the owner secured the account. */
async function besideSecuring(
  agent: Agent,
  prepare: (thief: TestOwner) => Promise<() => Promise<unknown>>,
): Promise<unknown> {
  const [owner, thief] = [await ownerOf(world, agent), await ownerOf(world, agent)]
  const begin = await prepare(thief)
  let answer: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_secure(${owner.credential}, ${digest()}, 'of the owner')`
    answer = begin()
    await oneWaits()
  })
  return answer
}

/** Returns the answer to another session's call that began just before the owner ended all others. */
async function besideEnd(
  agent: Agent,
  ask: (credential: string) => PromiseLike<unknown>,
): Promise<unknown> {
  const [owner, thief] = [await ownerOf(world, agent), await ownerOf(world, agent)]
  let answer: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select api.owner_end_other_sessions(${owner.credential})`
    answer = Promise.resolve(ask(thief.credential)).then(
      () => 'done',
      (error: unknown) => String(error),
    )
    await oneWaits()
  })
  return answer
}

async function ownerRow({ id }: Agent) {
  const [row] = await world.db.sql`
    select password_hash, pending_password_hash, hold_until from private.owners where account = ${id}`
  return row
}
const asItWas = { password_hash: 'of the owner', pending_password_hash: null, hold_until: null }

describe('a session that ends as the account is secured', () => {
  test('sets no password any more', async () => {
    const agent = await openHouse()
    const set = { password_hash: 'of a thief', session_digest: digest() }

    const answer = await besideSecuring(
      agent,
      async (thief) => () => thief.call('owner_set_password', set),
    )

    expect(answer).toEqual(unauthorized)
    expect(await ownerRow(agent)).toEqual(asItWas)
  })

  test('ends nothing by the same act, and sets no password by it', async () => {
    const agent = await openHouse()

    const answer = await besideSecuring(agent, async (thief) => {
      const given = { session_digest: digest(), password_hash: 'of a thief' }
      return () => thief.call('owner_secure', given)
    })

    expect(answer).toEqual(unauthorized)
    expect(await ownerRow(agent)).toEqual(asItWas)
  })

  test('approves no mandate', async () => {
    const agent = await openHouse()
    const { id: mandate, digest: terms } = await askMandate(world, agent)
    await world.tick(3_600)
    const decision = { mandate, decision: 'approved', digest: terms }

    const answer = await besideSecuring(
      agent,
      async (thief) => () => thief.call('owner_decide_mandate', decision),
    )

    expect(answer).toEqual(unauthorized)
  })

  test('approves no payment, and makes nobody known', async () => {
    const agent = await openHouse()
    const payment = await waitingPayment(world, agent)
    await world.tick(120)
    const ticked = await digestTicked(world.db, payment, ['remember_payee'])
    const approval = { payment, decision: 'approved', digest: ticked, remember_payee: true }

    const answer = await besideSecuring(
      agent,
      async (thief) => () => thief.call('owner_decide_payment', approval),
    )

    expect(answer).toEqual(unauthorized)
    const { sql } = world.db
    expect(
      await sql`select from private.known_recipients where account = ${agent.id}`,
    ).toHaveLength(0)
  })
})

const refused = 'PostgresError: unauthorized'

test('a session that is ended opens no entry and reads no mail any more', async () => {
  const agent = await openHouse()
  const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'mine' })

  const opened = await besideEnd(
    agent,
    (credential) => late`select from api.vault_read_entry(${credential}, ${entry})`,
  )
  const listed = await besideEnd(
    agent,
    (credential) => late`select from api.list_mails(${credential}, 10)`,
  )

  expect([opened, listed]).toEqual([refused, refused])
})

/** Returns the answer to a key's call that began just before its owner revoked the key. */
async function besideRevoking(
  agent: Agent,
  ask: (credential: string) => PromiseLike<unknown>,
): Promise<unknown> {
  const owner = await ownerOf(world, agent)
  const key = await agent.withKey('pay')
  const credential = await credentialOf(key.key, pepper)
  const [row] = await world.db.sql`select id from private.credentials where digest = ${credential}`
  let answer: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_revoke_key(${owner.credential}, ${String(row?.['id'])})`
    answer = Promise.resolve(ask(credential)).then(
      () => 'done',
      (error: unknown) => String(error),
    )
    await oneWaits()
  })
  return answer
}

test('a cookie that leaked before a proof widens nothing that waits beside it', async () => {
  const agent = await openHouse()
  const thief = await ownerOf(world, agent, 60)
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  let answer: Promise<unknown> = Promise.resolve()

  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_prove(${thief.credential}, 'a hash', ${digest()})`
    answer = thief.call('owner_add_recipient', { address })
    await oneWaits()
  })

  expect(await answer).toEqual(unauthorized)
})

describe('a key that is revoked', () => {
  test('uses no secret any more, stores none and asks for no place of one', async () => {
    const agent = await openHouse()
    const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'mine' })
    await approveDestination(world, entry, { path: '/login', name: 'pass' })
    const [place] = await world.db
      .sql`select id from private.vault_destinations where entry = ${entry}`

    const used = await besideRevoking(
      agent,
      (credential) => late`
      select from api.vault_begin_use(${credential}, ${entry}, '{}', ${[String(place?.['id'])]}, '/')`,
    )
    const stored = await besideRevoking(
      agent,
      (credential) => late`
      select from api.vault_commit_store(${credential}, ${randomUUID()}, 0, 'https://late.example',
        'me', '{}', true, false, '{}', 'credential_stored')`,
    )
    const another = {
      kind: 'request',
      page: '',
      standing: [{}],
      method: 'POST',
      path: '/late',
    }
    const asked = await besideRevoking(
      agent,
      (credential) => late`
      select from api.vault_ask_destination(${credential}, ${entry}, ${late.json(another)})`,
    )

    expect([used, stored, asked]).toEqual([refused, refused, refused])
  })

  test('asks for no mandate', async () => {
    const asked = await besideRevoking(
      await openHouse(),
      (credential) => late`
      select from api.create_mandate(${credential}, 'd', 'shop.example', false, '1000000', 3600)`,
    )

    expect(asked).toBe(refused)
  })
})
