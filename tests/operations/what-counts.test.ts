/** Limits count everything that the chain could still execute, and for a day what it did execute. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { resolveAll } from '../support/books.ts'
import { keyWith } from '../support/capped.ts'
import { askedFor, posting } from '../support/held.ts'
import { acquainted, proven, statesOf, usdcOf } from '../support/ledger.ts'
import { failedRules, giveMandate } from '../support/mandates.ts'
import { type Agent, type Answer, pepper, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const daySeconds = 86_400
const asserted = { user_confirmed: true }

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})
afterEach(() => mining(true))

const mining = (isOn: boolean) =>
  callRpc(
    world.chain.rpcUrl,
    isOn ? [['evm_setAutomine', true], ['evm_mine']] : [['evm_setAutomine', false]],
  )

const send = (agent: Agent, { address }: Agent, amount: string, more: object = {}) =>
  agent.post(path, { chain: 'base-sepolia', token: 'USDC', amount, recipient: address, ...more })

const refusal = z.object({ reasons: z.array(z.object({ code: z.string() })) })
const whyOf = ({ body }: Answer) =>
  refusal.parse(body['details'] ?? body).reasons.map(({ code }) => code)
const leftOf = async (agent: Agent) => (await agent.get('/get-identity')).body['limits']

test.each([
  ['the automatic limit', '200', {}, 'automatic_limit'],
  ["the limit on the agent's word", '200', asserted, 'asserted_limit'],
])('what is signed and not mined counts against %s days later', async (_, amount, more, code) => {
  const { payer, payee } = await acquainted(world, 2000)
  await mining(false)
  const first = await send(payer, payee, amount, more)

  await world.tick(5 * daySeconds)
  const stranger = await world.agent('read')
  const next = await send(payer, code === 'automatic_limit' ? payee : stranger, '0.000001', more)

  expect(first.body['status']).toBe('submitted')
  expect(whyOf(next)).toContain(code)
})

test('what is signed and not mined counts against the limit to a new recipient days later', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  const payee = await world.agent('read')
  await mining(false)
  const first = await send(payer, payee, '10', asserted)

  await world.tick(5 * daySeconds)
  const next = await send(payer, payee, '0.000001', asserted)

  expect(first.body).toMatchObject({ status: 'submitted', consent_level: 'agent_asserted' })
  expect(whyOf(next)).toEqual(['asserted_new_recipient_limit'])
})

test('what is signed and not mined counts against the daily cap days later', async () => {
  const { payer, payee } = await acquainted(world, 2000)
  await world.db.sql`update private.accounts set daily_spending_cap_usd_micros = 20000000
    where id = ${payer.id}`
  await mining(false)
  await send(payer, payee, '12')
  await world.tick(3 * daySeconds)
  await send(payer, payee, '8', asserted)
  await world.tick(3 * daySeconds)

  const next = await send(payer, payee, '0.000001')
  await mining(true)
  await runHousekeeping(world.world)

  expect(next).toMatchObject({ status: 403, body: { error: 'limit_exceeded' } })
  expect(whyOf(next)).toContain('daily_spending_cap')
  expect(await usdcOf(world, payee)).toBeLessThanOrEqual(20_000_000n)
})

test('what is signed and not mined counts against the cap of a key days later', async () => {
  const { payer, payee } = await acquainted(world, 2000)
  const key = await keyWith(world, payer, { day: 10 })
  await mining(false)
  await send(key, payee, '10')

  await world.tick(2 * daySeconds)
  const next = await send(key, payee, '0.000001')

  expect(whyOf(next)).toContain('credential_daily_cap')
})

test('what is signed and not mined counts against the day of a mandate days later', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  const payee = await world.agent('read')
  const { id } = await giveMandate(world, payer, {
    pay_to: [payee.address],
    max_day_usd_micros: '5000000',
    ttl_seconds: 30 * daySeconds,
  })
  await mining(false)
  const first = await send(payer, payee, '5')

  await world.tick(2 * daySeconds)
  const next = await send(payer, payee, '0.000001')

  expect(first.body).toMatchObject({ status: 'submitted', consent_level: 'mandate' })
  expect(next.body).toMatchObject({ status: 'awaiting_confirmation' })
  expect(failedRules(next.body, id)).toMatchObject([{ code: 'mandate_day_limit' }])
})

test('what settles late counts for a day from the end of its signature', async () => {
  const { payer, payee } = await acquainted(world, 2000)
  await mining(false)
  const { body } = await send(payer, payee, '200')
  await world.tick(500)
  await mining(true)
  const settled = await proven(payer, body['tx_hash'])
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x20']])
  await runHousekeeping(world.world)

  await world.tick(daySeconds + 40)
  const before = await leftOf(payer)
  await world.tick(61)
  const after = await leftOf(payer)

  expect(settled.body['status']).toBe('settled')
  expect(before).toMatchObject({ automatic_daily: { left_usd: '0' } })
  expect(after).toMatchObject({ automatic_daily: { left_usd: '200', resets_at: null } })
})

test('what settles counts against the cap of 30 days to the end of the last of them', async () => {
  const { payer, payee } = await acquainted(world, 2000)
  await world.db.sql`update private.accounts set monthly_spending_cap_usd_micros = 300000000
    where id = ${payer.id}`
  const { body } = await send(payer, payee, '200')
  const settled = await proven(payer, body['tx_hash'])
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x20']])
  await runHousekeeping(world.world)

  await world.tick(30 * daySeconds)
  const before = await send(payer, payee, '100.000001')
  const left = await leftOf(payer)
  await world.tick(daySeconds + 601)
  const after = await send(payer, payee, '100.000001')

  expect(settled.body['status']).toBe('settled')
  expect(before).toMatchObject({ status: 403, body: { error: 'limit_exceeded' } })
  expect(whyOf(before)).toEqual(['monthly_spending_cap'])
  expect(left).toMatchObject({ monthly_spending_cap: { limit_usd: '300', left_usd: '100' } })
  expect(after.status).toBe(200)
})

test('what is signed counts against the cap of 30 days, whatever is confirmed', async () => {
  const { payer, payee } = await acquainted(world, 2000)
  await world.db.sql`update private.accounts set monthly_spending_cap_usd_micros = 30000000
    where id = ${payer.id}`
  await mining(false)
  await send(payer, payee, '20')
  await world.tick(5 * daySeconds)

  const next = await send(payer, payee, '10.000001', asserted)

  expect(whyOf(next)).toEqual(['monthly_spending_cap'])
})

test('what was taken back and settles again counts for a day from then', async () => {
  const { payer, payee } = await acquainted(world, 2000)
  const { body } = await send(payer, payee, '200')
  await proven(payer, body['tx_hash'])
  const [payment] = await world.db.sql<{ id: string; block_hash: string }[]>`
    select id, block_hash from private.payments where account = ${payer.id}`
  const { id = '', block_hash: block = '' } = payment ?? {}

  await world.tick(500)
  await world.db.sql`select from api.housekeeping_reorg(${id}, ${block})`
  const between = await leftOf(payer)
  const again = await proven(payer, body['tx_hash'])
  await world.tick(daySeconds - 60)
  const before = await leftOf(payer)

  expect(again.body['status']).toBe('settled')
  expect(between).toMatchObject({ automatic_daily: { left_usd: '0' } })
  expect(before).toMatchObject({ automatic_daily: { left_usd: '0' } })
})

test('a window that is full of what is open resets a day after the end of its signature', async () => {
  const { payer, payee } = await acquainted(world, 2000)
  await mining(false)
  await send(payer, payee, '200')
  const [row] = await world.db.sql<{ ends: string }[]>`
    select to_timestamp(valid_before + ${daySeconds}) as ends from private.payments
     where account = ${payer.id}`

  const { resets_at: soon } = z
    .object({ resets_at: z.string() })
    .parse(z.object({ automatic_daily: z.unknown() }).parse(await leftOf(payer)).automatic_daily)
  await world.tick(3 * daySeconds)
  const later = await send(payer, payee, '1')

  expect(new Date(soon)).toEqual(new Date(row?.ends ?? ''))
  const now = Date.parse(soon) + 2 * daySeconds * 1000
  const [reason] = z
    .array(z.looseObject({ resets_at: z.string() }))
    .parse(z.object({ reasons: z.unknown() }).parse(later.body['details'] ?? later.body).reasons)
  expect(Date.parse(reason?.resets_at ?? '')).toBeGreaterThan(now)
  expect(await statesOf(world, payer)).toContain('signed')
})

/** Authorizes a payment whose custody dies before it stores a signature. Returns its id. */
async function reserve(agent: Agent, { address }: Agent, amount: string, more: object = {}) {
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (askedFor(input, init) === 'custody_record') throw new TypeError('custody was killed')
    return globalThis.fetch(input, init)
  }
  const order = { chain: 'base-sepolia', token: 'USDC', amount, recipient: address }
  await posting(world, { fetch })(agent, path, { ...order, ...more })
  const [row] = await world.db.sql<{ id: string }[]>`
    select id from private.payments where account = ${agent.id} and state = 'authorized'`
  return row?.id ?? ''
}

test('what was authorized and never signed counts for 20 seconds, with nobody looking', async () => {
  const { payer, payee } = await acquainted(world, 250)
  await reserve(payer, payee, '200')

  await world.tick(10)
  const before = await send(payer, payee, '1')
  await world.tick(10)
  const after = await leftOf(payer)
  const next = await send(payer, payee, '200')

  expect(before.body).toMatchObject({ status: 'awaiting_confirmation' })
  expect(after).toMatchObject({
    automatic_daily: { left_usd: '200', resets_at: null },
    daily_spending_cap: { left_usd: '1000' },
  })
  expect(next.body['status']).toBe('submitted')
  await runHousekeeping(world.world)
  expect(await statesOf(world, payer)).toContain('released')
})

test('a payment whose reservation ended unsigned is decided anew when it is asked for again', async () => {
  const { payer, payee } = await acquainted(world, 500)
  const transfer_id = await reserve(payer, payee, '150')
  await world.tick(20)
  await send(payer, payee, '60')

  const over = await send(payer, payee, '150', { transfer_id })
  await world.db.sql`update private.accounts set automatic_daily_limit_usd_micros = 210000000
    where id = ${payer.id}`
  const within = await send(payer, payee, '150', { transfer_id })

  expect(over.body['status']).toBe('awaiting_confirmation')
  expect(whyOf(over)).toEqual(['automatic_limit'])
  expect(within.body).toMatchObject({ status: 'submitted', transfer_id })
  await resolveAll(world)
  expect(await usdcOf(world, payee)).toBe(210_000_000n)
})

test('custody keeps no signature that was made for an earlier reservation of a payment', async () => {
  const { payer, payee } = await acquainted(world, 500)
  const id = await reserve(payer, payee, '10')
  const record = async (at: Date | undefined) => {
    const credential = await credentialOf(payer.key, pepper)
    const [row] = await world.db.sql<{ kept: boolean }[]>`select kept from api.custody_record(
      ${credential}, ${id}, ${at ?? null}, ${`0x${'3'.repeat(64)}`}, '0x')`
    return row?.kept
  }
  const authorizedAt = async () => {
    const [row] = await world.db.sql<{ at: Date }[]>`
      update private.payments set authorized_at = date_trunc('milliseconds', authorized_at)
       where id = ${id} returning authorized_at as at`
    return row?.at
  }
  const first = await authorizedAt()
  await world.tick(20)
  const late = await record(first)
  await reserve(payer, payee, '10', { transfer_id: id })
  const second = await authorizedAt()

  expect([late, await record(first), await record(second)]).toEqual([false, false, true])
})
