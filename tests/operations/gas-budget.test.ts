/** Relayers carry at most so many transfers of an account in 24 hours, each at a price that custody bounds. */
import { beforeEach, expect, test } from 'vitest'
import { fund } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { inForm } from '../support/cases.ts'
import { newKey } from '../support/chain-world.ts'
import { refusing } from '../support/faults/answers.ts'
import { elapse, stopMining } from '../support/faults/chain.ts'
import { holdGasPayers, transferPath } from '../support/faults/pair.ts'
import { limitGas, mine, relayersHold, transfers, transferTo } from '../support/gas.ts'
import { statesOf } from '../support/ledger.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true, gasPayers: 4 })
})

/** Returns how many transfers of an account the chain's transactions carry. */
async function carriedFor(payer: { id: string }): Promise<number> {
  const rows = await world.db.sql`select from private.relay_transactions t
    cross join lateral unnest(t.carries) c (payment) join private.payments p on p.id = c.payment
    where p.account = ${payer.id}`
  return rows.length
}

/** Number of transfers that an account sends in a row. */
const count = inForm(40, 120)

test('transfers of dust to fresh addresses cost relayers nothing', async () => {
  await limitGas(world, { leastUsdMicros: 10_000n })
  const payer = await world.agent('pay', { usdc: 1 })
  const before = await relayersHold(world)

  const { counts } = await transfers(world, payer, count, '0.000001')
  await mine(world)

  expect(counts).toEqual({ amount_too_small: count })
  expect(before - (await relayersHold(world))).toBe(0n)
  expect(await statesOf(world, payer)).toEqual(Array(count).fill('prepared'))
})

test('of 50 at once as many are sent as the budget of calls has, and the others say until when', async () => {
  await limitGas(world, { callsPerDay: 7n })
  const payer = await world.agent('pay', { usdc: 1000 })

  const { counts, answers } = await transfers(world, payer, 50, '0.01')

  expect(counts).toEqual({ relay_limit_reached: 43, submitted: 7 })
  expect(counts).toEqual({ submitted: 7, relay_limit_reached: 43 })
  await runHousekeeping(world.world)
  expect(await carriedFor(payer)).toBe(7)
  const refused = answers.find(({ status }) => status === 429)
  const seconds = Number(refused?.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(86_300)
  expect(seconds).toBeLessThanOrEqual(86_400)
  expect(refused?.body).toMatchObject({ details: { chain: 'eip155:84532', left_calls: 0 } })
  expect(refused?.body['hint']).toMatch(
    /^Wait until 2.*Z, when more is free, or fund the wallet with ETH/,
  )
})

test('a young account has less, and all of it once it is old enough', async () => {
  await limitGas(world, { callsPerDay: 5n, youngCallsPerDay: 2n, youngHours: 48n })
  const payer = await world.agent('pay', { usdc: 1000 })

  const young = await transfers(world, payer, 4, '0.01')
  await mine(world)
  await runHousekeeping(world.world)
  await elapse(world, 48 * 3_600)
  const old = await transfers(world, payer, 8, '0.01')

  expect(young.counts).toEqual({ relay_limit_reached: 2, submitted: 2 })
  expect(old.counts).toEqual({ relay_limit_reached: 3, submitted: 5 })
})

test('over the budget the wallet pays with gas of its own', async () => {
  await limitGas(world, { callsPerDay: 1n })
  const payer = await world.agent('pay', { usdc: 1000 })
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  const first = await transferTo(world, payer, 1, '1')
  await mine(world)
  const before = await relayersHold(world)

  const second = await transferTo(world, payer, 2, '1')
  await mine(world)

  expect([first.status, second.status]).toEqual([200, 200])
  expect(before - (await relayersHold(world))).toBe(0n)
  const [slot] = await world.db
    .sql`select gas_payer from private.relay_slots order by id desc limit 1`
  expect(slot).toEqual({ gas_payer: payer.address })
})

test('what is left is told, and free again after 24 hours', async () => {
  await limitGas(world, { callsPerDay: 2n, leastUsdMicros: 20_000n })
  const payer = await world.agent('pay', { usdc: 1000 })
  await transfers(world, payer, 2, '0.02')
  await mine(world)
  await runHousekeeping(world.world)

  const used = await payer.get('/get-identity')
  const over = await transferTo(world, payer, 3, '0.02')
  await elapse(world, 86_401)
  const later = await transferTo(world, payer, 3, '0.02')

  const limits = used.body['limits']
  expect(limits).toMatchObject({
    relayed_transfers: [
      { chain: 'eip155:84532', calls_per_day: 2, calls_left: 0, least_usd: '0.02' },
    ],
  })
  expect([over.status, later.status]).toEqual([429, 200])
})

test('what never got into a transaction is given back', async () => {
  await limitGas(world, { callsPerDay: 1n })
  const payer = await world.agent('pay', { usdc: 1000 })
  await holdGasPayers(world)
  await transferTo(world, payer, 1, '1')
  const queued = await transferTo(world, payer, 2, '1')
  await world.db.sql`update private.gas_payers set paused_for = 'a test'`
  await elapse(world, 1_000)
  await world.db.sql`update private.payments set state = 'released' where account = ${payer.id}
    and state = 'signed'`
  await world.db.sql`update private.gas_payers set paused_for = null`

  const later = await transferTo(world, payer, 3, '1')

  expect([queued.status, later.status]).toEqual([429, 200])
})

/** Requeues the only call. Returns true if it went back to the queue. */
async function requeue() {
  await world.db.sql`select api.housekeeping_requeue_slot(slot, false) from private.relay_calls`
  const [call] = await world.db.sql<{ queued: boolean }[]>`
    select slot is null as queued from private.relay_calls`
  await runHousekeeping(world.world)
  return call?.queued
}

test('a call that goes into another slot counts again, and stays where no more are carried', async () => {
  await limitGas(world, { callsPerDay: 2n })
  const payer = await world.agent('pay', { usdc: 1000 })
  await stopMining(world)
  await transferTo(world, payer, 1, '1')
  const queued = [await requeue(), await requeue()]

  expect(queued).toEqual([true, false])
  expect(await carriedFor(payer)).toBe(2)
})

test('a transfer counts for 24 hours from its authorization', async () => {
  await limitGas(world, { callsPerDay: 2n })
  const payer = await world.agent('pay', { usdc: 1000 })
  await stopMining(world)
  const one = await transfers(world, payer, 3, '1')
  await elapse(world, 45)
  await mine(world)
  await runHousekeeping(world.world)

  await elapse(world, 86_400 - 50)
  const two = await transfers(world, payer, 1, '1')

  expect(one.counts).toEqual({ submitted: 2, relay_limit_reached: 1 })
  expect(two.counts).toEqual({ relay_limit_reached: 1 })
})

test('a transfer that was never signed counts no longer than its money', async () => {
  await limitGas(world, { callsPerDay: 1n })
  const payer = await world.agent('pay', { usdc: 1000 })
  const cut = world.worker({ fetch: refusing('custody_record') })
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '1', recipient: newKey().at }
  const lost = await cut.post(payer, transferPath, { ...order, user_confirmed: true })
  const early = await transferTo(world, payer, 1, '1')
  await elapse(world, 31)

  expect(lost).toMatchObject({ status: 503 })
  expect(early).toMatchObject({ status: 429, body: { error: 'relay_limit_reached' } })
  expect(await transferTo(world, payer, 2, '1')).toMatchObject({ status: 200 })
})
