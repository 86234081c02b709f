import type { Sql, TransactionSql } from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { acquainted } from '../support/ledger.ts'
import { authorizing, signedPayment } from '../support/signed.ts'
import { type Agent, type Answer, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

type Row = { id: string; state: string; late: boolean }

/** Returns the payments of an account, each with a mark if it was authorized after the freeze. */
function rowsOf(agent: Agent): Promise<Row[]> {
  return world.db.sql<Row[]>`
    select p.id, p.state, coalesce(p.authorized_at > a.frozen_at, false) as late
      from private.payments p join private.accounts a on a.id = p.account
     where p.account = ${agent.id}`
}

function listed({ body }: Answer): string[] {
  const ids = JSON.stringify([body['may_settle'], body['stopped']])
  return [...ids.matchAll(/"payment_id":"([^"]+)"/g)].map(([, id = '']) => id)
}

/** Returns once a session waits for a lock. */
async function somebodyWaits(session: Sql | TransactionSql): Promise<void> {
  for (let waiting = 0; waiting === 0; ) {
    // A transaction keeps its first picture of who is connected.
    await session`select pg_stat_clear_snapshot()`
    const rows = await session`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    waiting = rows.length
  }
}

/** Freezes once `ended` of the requests have ended. */
async function freezeAmid(agent: Agent, requests: Promise<unknown>[], ended: number) {
  let left = ended
  await new Promise<void>((resolve) => {
    const count = () => {
      left -= 1
      if (left <= 0) resolve()
    }
    if (left === 0) resolve()
    for (const request of requests) request.then(count, count)
  })
  return agent.post('/account-freeze', {})
}

test.each([0, 5, 15])(
  'a freeze amid 50 transfers, %s of them done, answers every one that was signed and lets no other follow',
  async (ended) => {
    const { payer, payee } = await acquainted(world)
    const transfer = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
    const send = () => payer.post('/wallet-custodial-transfer', transfer)
    const requests = Array.from({ length: 50 }, send)

    const frozen = await freezeAmid(payer, requests, ended)
    const rows = await rowsOf(payer)
    await Promise.allSettled(requests)
    const after = await rowsOf(payer)

    const signed = rows.filter(({ state }) => ['signed', 'unknown', 'settled'].includes(state))
    expect(frozen).toMatchObject({ status: 200, body: { next_cursor: null } })
    expect(listed(frozen).toSorted()).toEqual(signed.map(({ id }) => id).toSorted())
    expect(after.filter(({ late }) => late)).toEqual([])
    expect(after.filter(({ state }) => state === 'authorized')).toEqual([])
    const now = after.filter(({ state }) => state === 'signed').map(({ id }) => id)
    expect(now.toSorted()).toEqual(signed.map(({ id }) => id).toSorted())
  },
)

test.each([0, 10, 25])(
  'a freeze amid 50 signatures, %s of them given, names each that custody gave out',
  async (ended) => {
    const { payer, payee } = await acquainted(world)
    const asked = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const request = await authorizing(world, payer, payee.address)
        return { ...request, consentLevel: 'none' as const }
      }),
    )
    await world.db.sql`update private.payments set device = d.fingerprint, amount_usd_micros = 1
      from private.known_devices d where d.account = ${payer.id}
      and payments.account = ${payer.id}`
    const { custody } = world.world
    if (!custody) throw new Error('the world has no custody')
    const requests = asked.map((request) => custody.authorize(request))

    const frozen = await freezeAmid(payer, requests, ended)
    const answers = await Promise.allSettled(requests)

    const given = asked.filter((_, at) => {
      const answer = answers[at]
      return answer?.status === 'fulfilled' && answer.value.outcome === 'signed'
    })
    expect(frozen.body).toMatchObject({ stopped: [], next_cursor: null })
    expect(listed(frozen)).toEqual(expect.arrayContaining(given.map(({ paymentId }) => paymentId)))
    const after = await rowsOf(payer)
    expect(after.filter(({ late, state }) => late || state === 'authorized')).toEqual([])
  },
)

test('a signature that is kept is not handed out again by who asked just before the freeze', async () => {
  const { payer, payee } = await acquainted(world)
  const { request } = await signedPayment(world, payer, payee.address)
  let late: Promise<unknown> = Promise.resolve()

  await world.db.sql.begin(async (session) => {
    await session`select from api.freeze_account(${request.credential}, 50)`
    late = Promise.resolve(world.world.custody?.authorize(request))
    // The caller is admitted, and waits for the account that the freeze has locked.
    await somebodyWaits(session)
  })

  expect(await late).toEqual({ outcome: 'refused', code: 'account_frozen' })
})

/** Authorizes a purchase, and returns its payer, its request and how its signature is stored and let out. */
async function authorizedPurchase() {
  const { payer, payee } = await acquainted(world)
  const { credential, paymentId, ...asked } = await authorizing(world, payer, payee.address)
  await world.db
    .sql`select from api.custody_authorize(${credential}, ${paymentId}, 'agent_asserted', 1,
    ${asked.fundsAtomic}, 0, ${asked.validBefore}, 45, seen_block => 1)`
  const record = (sql: Sql | TransactionSql) =>
    sql`select r.kept from private.payments p, api.custody_record(${credential}, p.id,
      p.authorized_at, ${`0x${'1'.repeat(64)}`}, '0x') r where p.id = ${paymentId}`
  return { payer, credential, record }
}

test('a freeze waits for what is being let out, and names it as handed over', async () => {
  const { payer, record } = await authorizedPurchase()
  let freezing: Promise<Answer> | undefined

  await world.db.sql.begin(async (session) => {
    expect([...(await record(session))]).toEqual([{ kept: true }])
    freezing = payer.post('/account-freeze', {})
    await somebodyWaits(session)
  })

  expect((await freezing)?.body).toMatchObject({ may_settle: [{ why: 'handed_over' }] })
})

test('what is to be let out waits for a freeze, and stays in', async () => {
  const { payer, credential, record } = await authorizedPurchase()
  let late: Promise<unknown> | undefined

  await world.db.sql.begin(async (session) => {
    await session`select from api.freeze_account(${credential}, 50)`
    late = record(world.db.sql).then(
      () => 'kept',
      (error: unknown) => String(error),
    )
    await somebodyWaits(session)
  })

  expect(await late).toContain('account_frozen')
  expect(await rowsOf(payer)).toMatchObject([{ state: 'released' }])
})
