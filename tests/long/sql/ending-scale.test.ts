/**
 * No key can make so much that its owner cannot end it in time: what is over costs hardly anything, and what
 * is undecided is limited. Cost is measured in PostgreSQL blocks.
 */
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../../shared/auth/api-key.ts'
import { costOf } from '../../support/cost.ts'
import { openHouse } from '../../support/house.ts'
import type { TestOwner } from '../../support/owner.ts'
import { randomUUID } from '../../support/seed.ts'
import { type Agent, fingerprint, pepper, start, type TestWorld } from '../../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

/** Enters payments of a key in this state. */
async function enter(agent: Agent, state: string, count: number): Promise<void> {
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at)
    select k.account, k.id, ${fingerprint}, 'transfer', ${state}, 84532, w.address, w.address,
      w.address, 1000, 1000, private.clock() + interval '1 day'
    from private.credentials k join private.wallets w on w.account = k.account,
      generate_series(1, ${count}::integer)
    where k.digest = ${await credentialOf(agent.key, pepper)}`
  await world.db.sql`analyze private.payments`
}

const begin = async (agent: Agent, claim?: string) =>
  world.world.db
    .call('begin_payment', {
      memo: randomUUID(),
      credential: await credentialOf(agent.key, pepper),
      kind: 'transfer',
      device: fingerprint,
      chain: 84532,
      token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      amount_atomic: '1000',
      amount_usd_micros: '1000',
      terms: {},
      claim,
      expires_in_seconds: 60,
      payee: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    })
    .then(
      () => 'entered',
      (error: unknown) => (error instanceof Error ? error.message : error),
    )

/** Creates mandates of a key that are revoked. */
async function revoke(agent: Agent, count: number): Promise<void> {
  await world.db.sql`
    insert into private.mandates (account, key, device, merchant_domain, include_subdomains,
      max_payment_usd_micros, expires_at, state, revoked_at, revoked_by)
    select k.account, k.id, ${fingerprint}, 'shop.example', false, 1,
      private.clock() + interval '1 day', 'revoked', private.clock(), 'agent'
    from private.credentials k, generate_series(1, ${count}::integer)
    where k.digest = ${await credentialOf(agent.key, pepper)}`
  await world.db.sql`analyze private.mandates`
}

/** Returns the cost of securing the account after a key made this much that is over. */
async function costOfEnding({ payments = 0, mandates = 0 }): Promise<number> {
  const { agent, owner } = await openHouse(world)
  await enter(agent, 'expired', payments)
  await revoke(agent, mandates)
  return costOfSecuring(owner)
}

function costOfSecuring(owner: TestOwner): Promise<number> {
  return costOf(
    world,
    `select from api.owner_secure('${owner.credential}', '${'ab'.repeat(32)}', 'another hash')`,
  )
}

test.each([{ payments: 10_000 }, { mandates: 10_000 }])(
  'securing an account hardly looks at what is over: %o',
  async (made) => {
    await costOfEnding({})
    const cost = await costOfEnding({})

    expect(await costOfEnding(made)).toBeLessThan(2 * cost)
  },
)

test('a key enters no payment while 200 of its own are undecided, and another one does', async () => {
  const agent = await world.agent('pay')
  await enter(agent, 'prepared', 199)

  const answers = [await begin(agent), await begin(agent), await begin(await agent.withKey('pay'))]

  expect(answers).toEqual(['entered', 'too_many_payments', 'entered'])
})

test('a key that may enter no further payment finds those that it entered', async () => {
  const agent = await world.agent('pay')
  const claim = '0b7c4a1e-6f5d-4e2a-9c3b-8d1f0a2e4c6b'
  await begin(agent, claim)
  await enter(agent, 'prepared', 199)

  expect([await begin(agent), await begin(agent, claim)]).toEqual(['too_many_payments', 'entered'])
})

test('no key enters a payment while 1,000 of the account are undecided', async () => {
  const agent = await world.agent('pay')
  for (const count of [200, 200, 200, 200, 199]) {
    await enter(await agent.withKey('pay'), 'awaiting_confirmation', count)
  }

  const answers = [await begin(agent), await begin(agent), await begin(await world.agent('pay'))]

  expect(answers).toEqual(['entered', 'too_many_payments', 'entered'])
})

test('no owner makes more than 100 keys at once, revoked ones among them', async () => {
  const { owner } = await openHouse(world)
  const made = { label: 'x', shown: 'shown', scope: 'pay', expires_in_days: 30 }
  const make = async (number: number) => {
    const digest = number.toString(16).padStart(64, '0')
    const answer = await owner.call('owner_create_key', { ...made, digest })
    if (Array.isArray(answer)) await owner.call('owner_revoke_key', { key: answer[0]?.['key'] })
    return answer
  }
  for (let count = 0; count < 100; count += 1) expect(await make(count)).toHaveLength(1)

  expect(await make(100)).toEqual({ refused: 'rate_limited' })
})

test('the end of a key costs the same however much other keys asked for', async () => {
  const cost = async (others: number) => {
    const { agent, owner } = await openHouse(world)
    const ended = await agent.withKey('pay')
    await enter(ended, 'prepared', 10)
    await enter(agent, 'prepared', others)
    const digest = await credentialOf(ended.key, pepper)
    const [row] = await world.db.sql`select id from private.credentials where digest = ${digest}`
    return costOf(world, `select api.owner_revoke_key('${owner.credential}', '${row?.['id']}')`)
  }
  await cost(0)
  const alone = await cost(0)

  expect(await cost(990)).toBeLessThan(2 * alone)
})

test('securing an account ends what is undecided at about the same cost, by however many keys it was entered', async () => {
  const cost = async (keys: number) => {
    const { agent, owner } = await openHouse(world)
    for (let count = 0; count < keys; count += 1) {
      await enter(await agent.withKey('pay'), 'prepared', 900 / keys)
    }
    return costOfSecuring(owner)
  }
  await cost(1)
  const once = await cost(1)

  expect(await cost(18)).toBeLessThan(2 * once)
})
