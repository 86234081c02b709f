/** Steps of the relay lose no call and send none for nothing, in every order of database sessions. */
import { beforeAll, expect, test } from 'vitest'
import { randomBytes, randomUUID } from '../support/seed.ts'
import { openSession, orders, type Session, type Step, stepThrough } from '../support/sessions.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const chain = 84532
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const gasPayers = [
  '0x1111111111111111111111111111111111111111',
  '0x2222222222222222222222222222222222222222',
]
const seen = JSON.stringify(gasPayers.map((address) => ({ address, mined_nonce: 0 })))

let world: TestWorld
let agent: Agent
let sessions: [Session, Session, Session]
beforeAll(async () => {
  world = await start()
  agent = await world.agent('pay')
  const { db } = world
  for (const gasPayer of gasPayers)
    await db.sql`select private.open_gas_payer(${chain}, ${gasPayer}, '{}', 0)`
  sessions = [await openSession(db), await openSession(db), await openSession(db)]
})

const word = () => `0x${randomBytes(32).toString('hex')}`

/** Empties the queue and frees both relayers. */
async function clear(): Promise<void> {
  await world.db.sql.unsafe(`
    delete from private.relay_calls;
    delete from private.relay_transactions;
    delete from private.relay_slots; delete from private.payments;
    update private.gas_payers set lease = null, leased_until = null, next_nonce = 0`)
}

/** Inserts a payment that is authorized and about to be signed. */
async function authorized(): Promise<string> {
  const id = randomUUID()
  await world.db.sql`
    insert into private.payments (id, account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_after,
      valid_before, leased_until)
    select ${id}, ${agent.id}, k.id, 'd', 'transfer', 'authorized', ${chain}, ${payee},
      ${agent.address}, ${payee}, 1, 1, private.clock() + interval '1 hour', 'none', private.clock(), 0,
      extract(epoch from private.clock())::bigint + 600, private.clock()
    from private.credentials k where k.account = ${agent.id}`
  return id
}

const stored = (calls: number) => `${calls}, '${word()}', '0x', '1', '1', '1'`

/** Returns the statement that stores a signature, with the transaction of a lease or alone. */
function record(payment: string, lease?: string): string {
  const slot = lease === undefined ? '' : `, '${lease}', false, ${stored(1)}`
  return `select r.* from private.payments p join private.credentials k on k.id = p.key,
    api.custody_record(k.digest, p.id, p.authorized_at, '${word()}', '0x'${slot}, gas_payers => '${seen}') r where p.id = '${payment}'`
}

async function queue(payments: number): Promise<void> {
  for (let at = 0; at < payments; at += 1) {
    await world.db.sql.unsafe(record(await authorized()))
  }
}

/** Leases a relayer for the session's own payment, before any call waits. */
async function leased(): Promise<string> {
  const [row] = await world.db.sql<{ lease: string }[]>`
    select (private.claim_gas_payer(${chain}, ${seen}::text::jsonb, true)).lease`
  return row?.lease ?? ''
}

/** Statement that claims waiting calls and keeps the claim in the session. */
const claim = `select set_config('aoa.lease', claim ->> 'lease', false),
    set_config('aoa.calls', jsonb_array_length(claim -> 'calls')::text, false)
  from api.custody_claim(${chain}, '${seen}')`
const forget = `select set_config('aoa.lease', '', false)`

/** Returns the statement that stores a transaction for the session's claim, if it has one. */
function recordClaim(): string {
  const lease = `nullif(current_setting('aoa.lease'), '')::uuid`
  const calls = `nullif(current_setting('aoa.calls', true), '')::integer`
  return `select r.* from api.custody_record_claim(
      ${chain}, ${lease}, ${calls}, '${word()}', '0x', '1', '1', '1', '${seen}') r
    where ${lease} is not null`
}

/**
 * Runs the steps in every order. Returns the orders in which a call was left behind (it waits, a relayer is
 * free and no session was notified) or a transaction was stored for nothing.
 */
async function brokenOrders(
  steps: ReadonlyMap<Session, number>,
  prepare: () => Promise<ReadonlyMap<Session, readonly Step[]>>,
): Promise<string[]> {
  const broken: string[] = []
  for (const order of orders(steps)) {
    await clear()
    const prepared = await prepare()
    await stepThrough(world.db.sql, order, prepared)
    const answers = (await Promise.all(sessions.map((session) => session.answers()))).flat()
    const isTold = answers.some(({ queued }) => queued === true)
    const [{ isLeft, isEmpty } = {}] = await world.db.sql`
      select private.is_relay_needed(${chain}, ${seen}::text::jsonb) as "isLeft", exists (
        select from private.relay_slots s where not exists (
          select from private.relay_calls c where c.slot = s.id)) as "isEmpty"`
    const isRight = isEmpty === false && (isTold || isLeft === false)
    if (!isRight) broken.push(order.map((session) => sessions.indexOf(session)).join(' '))
  }
  return broken
}

test('whoever queues a call while others free their relayers: one of them is asked to go on', async () => {
  const [one, other, newcomer] = sessions
  const lengths = new Map(sessions.map((session) => [session, 2]))

  const broken = await brokenOrders(lengths, async () => {
    const leases = [await leased(), await leased()]
    return new Map([
      [one, [['begin', record(await authorized(), leases[0])], ['commit']]],
      [other, [['begin', record(await authorized(), leases[1])], ['commit']]],
      [newcomer, [['begin', record(await authorized())], ['commit']]],
    ])
  })

  expect(broken).toEqual([])
}, 60_000)

test('two who relay at once put each call into one transaction, and send none for nothing', async () => {
  const [one, other] = sessions
  const steps = () => [['begin', claim], ['commit'], ['begin', recordClaim()], ['commit']]
  const lengths = new Map([one, other].map((session) => [session, 4]))

  const broken = await brokenOrders(lengths, async () => {
    await queue(2)
    for (const session of [one, other]) session.step([forget])
    return new Map([one, other].map((session) => [session, steps()]))
  })

  expect(broken).toEqual([])
}, 60_000)

test('who comes back after its lease has run out sends nothing that another took over', async () => {
  const [late, next] = sessions
  const lengths = new Map([
    [late, 2],
    [next, 4],
  ])

  const broken = await brokenOrders(lengths, async () => {
    await queue(2)
    next.step([forget])
    late.step([claim])
    await late.answers()
    await world.db.tick(6)
    const takeOver = [['begin', claim], ['commit'], ['begin', recordClaim()], ['commit']]
    return new Map([
      [late, [['begin', recordClaim()], ['commit']]],
      [next, takeOver],
    ])
  })

  expect(broken).toEqual([])
}, 60_000)
