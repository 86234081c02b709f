/** Rows of the fault table hold before a signature: keys, limits, the database, clocks and custody. */
import { beforeAll, expect, test } from 'vitest'
import { elapse } from '../support/faults/chain.ts'
import {
  onePair,
  orderTo,
  outcomeOf,
  type Pair,
  paidOnce,
  pairs,
  transfer,
  transferPath,
} from '../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../support/faults/settle.ts'
import { unreliable } from '../support/faults/unreliable.ts'
import { statesOf } from '../support/ledger.ts'
import { randomBytes } from '../support/seed.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const once = { 'idempotency-key': 'once' }

test('1. the same request 50 times at once is one payment, one reservation and one answer', async () => {
  const pair = await onePair(world)

  const answers = await Promise.all(
    Array.from({ length: 50 }, () => transfer(world.worker(), pair, once)),
  )
  const identity = await pair.payer.get('/get-identity')
  await settleAll(world)

  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(identity.body).toMatchObject({ limits: { automatic_daily: { left_usd: '190' } } })
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('2. a key that comes with another body is refused, and nothing is reserved for it', async () => {
  const pair = await onePair(world)
  await transfer(world.worker(), pair, once)

  const other = await pair.payer.post(transferPath, orderTo(pair.payee, '11'), once)
  await settleAll(world)

  expect(other).toMatchObject({ status: 422, body: { error: 'idempotency_mismatch' } })
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test.each([-3_600, 3_600])(
  '24. a worker whose clock is %i seconds off signs for the time of the database',
  async (seconds) => {
    const pair = await onePair(world)
    const now = () => new Date(world.world.now().getTime() + seconds * 1000)

    await transfer(world.worker({ now }), pair)
    const [row] = await world.db.sql<{ left: number }[]>`
      select valid_before - extract(epoch from private.clock())::integer as left
      from private.payments where account = ${pair.payer.id}`
    await settleAll(world)

    expect(Number(row?.left)).toBeGreaterThan(590)
    expect(Number(row?.left)).toBeLessThanOrEqual(605)
    expect(await outcomeOf(world, pair)).toBe(paidOnce)
    await ledgerEqualsChain(world)
  },
)

test('26. custody without its roots reserves nothing', async () => {
  const pair = await onePair(world)

  const refused = await transfer(world.worker({ rootKeys: '{}' }), pair)
  const states = await statesOf(world, pair.payer)
  await transfer(world.worker(), pair)
  await settleAll(world)

  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(states).toEqual(['prepared'])
  expect(await outcomeOf(world, pair)).toBe(`prepared,${paidOnce}`)
})

test('26. custody that cannot open a key can be asked again, and holds up no other payment', async () => {
  const rootKeys = JSON.stringify({ 1: randomBytes(32).toString('base64') })
  const [failing, other, abandoned] = await pairs(world, 3)
  if (!failing || !other || !abandoned) throw new Error('three pairs are needed')

  const refused = await transfer(world.worker({ rootKeys }), failing, once)
  await transfer(world.worker({ rootKeys }), abandoned, once)
  await transfer(world.worker(), other)
  const meanwhile = await outcomeOf(world, other)
  await elapse(world, 20)
  await transfer(world.worker(), failing, once)
  await settleAll(world)

  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(meanwhile).toMatch(/^(signed|settled) /)
  expect(await outcomeOf(world, failing)).toBe(paidOnce)
  expect(await outcomeOf(world, other)).toBe(paidOnce)
  expect(await outcomeOf(world, abandoned)).toBe('released 0')
  await ledgerEqualsChain(world)
})

test('27. of 100 transfers at once no more are paid than the cap holds', async () => {
  const pair = await onePair(world)
  await world.db.sql`update private.accounts set daily_spending_cap_usd_micros = 55000000
    where id = ${pair.payer.id}`

  const answers = await Promise.all(
    Array.from({ length: 100 }, () => transfer(world.worker(), pair)),
  )
  const [held] = await world.db.sql<{ usd: number }[]>`
    select sum(amount_usd_micros)::integer / 1000000 as usd from private.payments
     where account = ${pair.payer.id} and state in ('authorized', 'signed', 'settled')`
  await settleAll(world)

  const heard = answers.map(({ body }) => String(body['status'] ?? body['error'])).toSorted()
  const refused = Array<string>(95).fill('limit_exceeded')
  expect(heard).toEqual([...refused, ...Array<string>(5).fill('submitted')])
  expect(held).toEqual({ usd: 50 })
  expect(await outcomeOf(world, pair)).toMatch(/ 50000000$/)
  await ledgerEqualsChain(world)
})

const stops: [string, (pair: Pair) => Promise<unknown>][] = [
  [
    'key is revoked',
    ({ payer }) => world.db.sql`
    update private.credentials set revoked_at = private.clock() where account = ${payer.id}`,
  ],
  [
    'account is frozen',
    ({ payer }) => world.db.sql`
    update private.accounts set frozen_at = private.clock(), freezes = freezes + 1 where id = ${payer.id}`,
  ],
]

test.each(stops)(
  '28. a payer whose %s before it is let out pays nothing; after that it is paid once',
  async (_stopped, stop) => {
    const healthy = unreliable()
    await transfer(world.worker(healthy), await onePair(world))
    const outcomes = []

    for (let at = 1; at <= healthy.requests(); at += 1) {
      const pair = await onePair(world)
      let requests = 0
      await transfer(
        world.worker({
          fetch: async (input, init) => {
            requests += 1
            if (requests === at) await stop(pair)
            return fetch(input, init)
          },
        }),
        pair,
      )
      outcomes.push(pair)
    }
    await settleAll(world)

    const came = await Promise.all(outcomes.map((pair) => outcomeOf(world, pair)))
    expect(came).toEqual([' 0', 'prepared 0', 'prepared 0', 'released 0', paidOnce])
    await ledgerEqualsChain(world)
  },
)
