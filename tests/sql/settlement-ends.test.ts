/** Payments end, and settlements are revoked, by fixed rules; each log belongs to one payment. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Agent } from '../support/world.ts'
import { start } from '../support/world.ts'

const world = await start()
const { db } = world
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const hash = `0x${'ab'.repeat(32)}`
const validSeconds = 300

type Signed = { id: string; account: string }

async function signed(
  terms: 'permit2' | 'eip3009' = 'eip3009',
  of?: Agent,
  count = 1,
): Promise<Signed> {
  const payer = of ?? (await world.agent('pay'))
  const [row] = await db.sql<Signed[]>`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
      leased_until, authorization_nonce, terms, finality)
    select account, id, 'device', 'x402', 'unknown', 84532, ${payee}, ${payer.address}, ${payee},
      40, 40, private.clock(), 'none', private.clock(),
      floor(extract(epoch from private.clock()))::bigint + ${validSeconds}, private.clock(),
      '0x' || encode(sha256(gen_random_uuid()::text::bytea), 'hex'),
      jsonb_build_object('transfer_method', ${terms}::text), 'submitted'
    from private.credentials, generate_series(1, ${count}) where account = ${payer.id}
    returning id, account`
  if (!row) throw new Error('no payment was entered')
  return row
}

type Name = Parameters<typeof world.world.db.call>[0]

async function call(name: Name, args: object): Promise<object[]> {
  return z.array(z.looseObject({})).parse(await world.world.db.call(name, args))
}

const reasons = ['the authorization expired unused', 'the authorization was cancelled']
const release = (id: string, reason: string, alone: boolean) =>
  call('housekeeping_release', { payment: id, reason, alone })

async function rowOf({ id }: Signed) {
  const [row] = await db.sql`select state, finality, settled_atomic::text as settled,
    counted_usd_micros::text as counted, tx_hash, log_index, block_hash
    from private.payments where id = ${id}`
  return row
}

test.each(reasons)(
  'nothing is freed before its end by our own clock, though "%s"',
  async (reason) => {
    const payment = await signed()
    await world.tick(validSeconds - 2)

    const early = await release(payment.id, reason, false)
    const before = await rowOf(payment)
    await world.tick(3)
    const late = await release(payment.id, reason, false)

    expect(early).toEqual([])
    expect(before).toMatchObject({ state: 'unknown', finality: 'submitted' })
    expect(late).toHaveLength(1)
    expect(await rowOf(payment)).toMatchObject({ state: 'released', finality: null })
  },
)

test('on the word of one operator alone nothing is freed within a quarter of an hour', async () => {
  const payment = await signed()
  await world.tick(validSeconds + 890)

  const early = await release(payment.id, reasons[0] ?? '', true)
  await world.tick(12)
  const late = await release(payment.id, reasons[0] ?? '', true)

  expect([early, late.length]).toEqual([[], 1])
})

function settle(id: string, logs: number[], taken: string | null = '40', finality = 'included') {
  return call('housekeeping_settle', {
    payment: id,
    tx_hash: hash,
    block_number: 1,
    block_hash: 'block',
    logs: logs.map((log_index) => ({ tx_hash: hash, log_index })),
    finality,
    settled_atomic: taken,
  })
}

test('a settlement that was final is never taken back, whoever says that its block is gone', async () => {
  const payment = await signed()
  await settle(payment.id, [90], null, 'finalized')

  const reopened = await call('housekeeping_reorg', { payment: payment.id, block_hash: 'block' })

  expect(reopened).toEqual([])
  expect(await rowOf(payment)).toMatchObject({ state: 'settled', finality: 'finalized' })
})

test('of equal payments of one transaction each has a log of its own, and one too many has none', async () => {
  const all = [await signed('permit2'), await signed('permit2'), await signed('permit2')]

  for (const { id } of all) await settle(id, [0, 1])

  expect(await Promise.all(all.map(rowOf))).toMatchObject([
    { state: 'settled', log_index: 0, settled: '40' },
    { state: 'settled', log_index: 1, settled: '40' },
    { state: 'settled', log_index: null, settled: '40', tx_hash: hash },
  ])
})

test('what took less by a log that another payment holds counts in full', async () => {
  const [first, second] = [await signed('permit2'), await signed('permit2')]

  await settle(first.id, [2], '7', 'finalized')
  await settle(second.id, [2], '7', 'finalized')

  expect(await rowOf(first)).toMatchObject({ log_index: 2, counted: '7' })
  expect(await rowOf(second)).toMatchObject({ log_index: null, settled: null, counted: '40' })
})

test('a log that an authorization wrote is taken from a permit that was booked by it', async () => {
  const [permit, authorization] = [await signed('permit2'), await signed('eip3009')]
  await settle(permit.id, [3], '7')

  await settle(authorization.id, [3], null)

  expect(await rowOf(permit)).toMatchObject({ state: 'settled', log_index: null, counted: '40' })
  expect(await rowOf(authorization)).toMatchObject({ state: 'settled', log_index: 3 })
})

test('payments of two that settle at once by the same logs get different ones', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => signed('permit2')))

  await Promise.all(all.map(({ id }) => settle(id, [10, 11, 12, 13, 14, 15])))

  const logs = (await Promise.all(all.map(rowOf))).map((row) => Number(row?.['log_index']))
  expect(new Set(logs)).toEqual(new Set([10, 11, 12, 13, 14, 15]))
})

test('what is final and nowhere to be found is settled in full without a place', async () => {
  const payment = await signed('permit2')

  await call('housekeeping_settle', { payment: payment.id, logs: [], finality: 'finalized' })

  expect(await rowOf(payment)).toMatchObject({
    state: 'settled',
    finality: 'finalized',
    counted: '40',
    tx_hash: null,
    block_hash: null,
    log_index: null,
  })
})

test('however many payments of one account stay open, the next run looks at every other account', async () => {
  const crowd = await world.agent('pay')
  await signed('permit2', crowd, 500)
  const others = [await signed(), await signed(), await signed()]
  await world.tick(1)

  const seen = await call('housekeeping_open', { batch: 50 })

  const ids = seen.map((row) => String(Reflect.get(Reflect.get(row, 'payment_row'), 'id')))
  expect(ids).toEqual(expect.arrayContaining(others.map(({ id }) => id)))
})
