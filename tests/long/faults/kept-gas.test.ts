/** No transfer uses the gas that a relayer keeps for cancellations, whatever the order of transfers. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { gathering } from '../../support/faults/answers.ts'
import { elapse, expectUnusable, mineAt, node, stopMining } from '../../support/faults/chain.ts'
import { orderTo, transferPath } from '../../support/faults/pair.ts'
import { limitGas, relayersHold, transferTo } from '../../support/gas.ts'
import { acquainted, usdcOf } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'
import type { TestWorld } from '../../support/world.ts'
import { start } from '../../support/world.ts'

const gwei = 1_000_000_000n
/** Returns the worst price of one call at a base fee. */
const costAt = (baseFee: bigint) => 160_000n * (2n * baseFee + 10n ** 6n)
const tenthsOf = (wei: bigint, tenths: bigint) => (wei * tenths) / 10n

/** Starts a world with one relayer that holds `wei`, after some blocks at the same base fee. */
async function oneRelayer(baseFee: bigint, wei: bigint, connections = 4): Promise<TestWorld> {
  const world = await start({ chain: true, lanes: 1, connections })
  await limitGas(world, {})
  for (let at = 0; at < 6; at += 1) await mineAt(world, baseFee)
  const [lane] = await world.db.sql<{ address: string }[]>`
    select address from private.relay_lanes where kind = 'relayer'`
  await node(world, 'anvil_setBalance', lane?.address, `0x${wei.toString(16)}`)
  return world
}

test('by requests that looked at it at the same moment', async () => {
  const cost = costAt(gwei)
  const world = await oneRelayer(gwei, tenthsOf(cost, 226n), 20)
  const pairs = await Promise.all(Array.from({ length: 13 }, () => acquainted(world)))
  await stopMining(world)

  // The calls to custody wait until every request has read the relayer's balance.
  const worker = world.worker({ fetch: gathering('custody_authorize', 13) })
  await Promise.all(
    pairs.map(({ payer, payee }) => worker.post(payer, transferPath, orderTo(payee))),
  )
  const slots = await world.db.sql`select 1 from private.relay_slots`
  await mineAt(world, tenthsOf(gwei, 17n))

  expect(slots.length).toBeGreaterThan(0)
  expect(await relayersHold(world)).toBeGreaterThanOrEqual(20n * cost)
})

test('by one run that works off a long queue', async () => {
  const cost = costAt(gwei)
  // This pays for 25 transfers at twice their worst price, beside the gas that is kept.
  const world = await oneRelayer(gwei, 72n * cost)
  const busy = await world.agent('pay', { usdc: 1000 })
  const { payer, payee } = await acquainted(world)
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1e12,
    daily_spending_cap_usd_micros = 1e12`
  await world.db.sql`update private.relay_lanes set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '30 minutes'`
  await stopMining(world)
  for (let at = 0; at < 150; at += 1) await transferTo(world, busy, at, '0.01')
  const signed = await signedPayment(world, payer, payee.address)
  await world.db.sql`update private.relay_lanes set lease = null, leased_until = null`

  await runHousekeeping(world.world)
  await payer.post('/account-freeze', {})
  for (let run = 0; run < 8; run += 1) {
    await runHousekeeping(world.world)
    await mineAt(world, tenthsOf(gwei, 16n))
    await elapse(world, 15)
  }

  await expectUnusable(world, signed.calldata)
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('by transfers in flight that are replaced when gas becomes twelve times dearer', async () => {
  const low = gwei / 20n
  const world = await oneRelayer(low, 48n * costAt(low))
  const busy = await world.agent('pay', { usdc: 1000 })
  const { payer, payee } = await acquainted(world)
  await stopMining(world)
  for (let at = 0; at < 13; at += 1) await transferTo(world, busy, at, '1')
  const signed = await signedPayment(world, payer, payee.address)
  await node(world, 'anvil_dropAllTransactions')
  for (let at = 0; at < 6; at += 1) await mineAt(world, 12n * low)
  for (let run = 0; run < 16; run += 1) {
    await runHousekeeping(world.world)
    await mineAt(world, 12n * low)
  }

  await payer.post('/account-freeze', {})
  for (let run = 0; run < 4; run += 1) {
    await elapse(world, 20)
    await runHousekeeping(world.world)
    await mineAt(world, 12n * low)
  }

  await expectUnusable(world, signed.calldata)
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('by replacements that are stored at the same moment', async () => {
  const low = gwei / 20n
  const dear = 4n * (2n * low + 10n ** 6n)
  const world = await oneRelayer(low, 120n * costAt(low), 30)
  const payers = await Promise.all(
    Array.from({ length: 13 }, () => world.agent('pay', { usdc: 10 })),
  )
  for (let at = 0; at < 6; at += 1) await mineAt(world, low)
  await stopMining(world)
  // Housekeeping records the relayer's balance in the ledger.
  await runHousekeeping(world.world)
  for (const [at, payer] of payers.entries()) await transferTo(world, payer, at, '1')
  const slots = await world.db.sql<{ id: string }[]>`select id from private.relay_slots`

  const fetch = gathering('custody_record_replacement', slots.length)
  const { custody } = world.worker({ fetch }).world
  const fees = { maxFeePerGas: `${dear}`, maxPriorityFeePerGas: '1000000', dataFeeWei: '0' }
  const stored = await Promise.all(
    slots.map(async ({ id }) => custody?.replace({ slot: Number(id), ...fees })),
  )
  const [left] = await world.db.sql<{ wei: string }[]>`
    select private.left_wei(l)::text as wei from private.relay_lanes l where kind = 'relayer'`

  expect(stored.filter(Boolean).length).toBeGreaterThan(0)
  expect(BigInt(left?.wei ?? 0)).toBeGreaterThanOrEqual(20n * 160_000n * dear)
})
