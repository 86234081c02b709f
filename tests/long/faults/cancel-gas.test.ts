/** Cancellations of one account cost relayers no more than its budget of gas, on however many lanes. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { newKey } from '../../support/chain-world.ts'
import { claimingTogether } from '../../support/faults/answers.ts'
import { elapse, mineAt, node, stopMining } from '../../support/faults/chain.ts'
import { limitGas, relayersHold } from '../../support/gas.ts'
import { signedPayment } from '../../support/signed.ts'
import type { TestWorld } from '../../support/world.ts'
import { start } from '../../support/world.ts'

const [lanes, callsMax] = [3, 25]
const [cheap, dear] = [2_000_000_000n, 12_000_000_000n]
/** Returns what a transaction full of cancellations costs at most at that base fee. */
const costAt = (baseFee: bigint) => (BigInt(callsMax) * 112_400n * (2n * baseFee + 10n ** 6n)) / 2n

/** Freezes an account with enough signatures for all lanes; their cancellations wait. */
async function queuedCancels(baseFee: bigint) {
  const world = await start({ chain: true, lanes, connections: 12 })
  const payer = await world.agent('pay', { usdc: 1000 })
  await limitGas(world, {})
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1e12,
    asserted_new_recipient_limit_usd_micros = 1e12, daily_spending_cap_usd_micros = 1e12`
  for (let block = 0; block < 6; block += 1) await mineAt(world, baseFee)
  await runHousekeeping(world.world)
  const signed = []
  for (let count = 0; count < lanes * callsMax; count += 1) {
    signed.push(await signedPayment(world, payer, newKey().at, '1000000'))
  }
  await stopMining(world)
  await world.db.sql`update private.relay_lanes set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '30 minutes'`
  await payer.post('/account-freeze', {})
  for (const { paymentId } of signed) await world.world.custody?.cancel({ paymentId })
  await world.db.sql`update private.relay_lanes set lease = null, leased_until = null`
  return world
}

async function booked({ db }: TestWorld): Promise<bigint> {
  const [row] = await db.sql<{ wei: string }[]>`select sum(wei)::text as wei from private.gas_uses`
  return BigInt(row?.wei ?? 0)
}

/** Mines a block as dear as the transactions of the relayers allow. */
async function mineAtDearest(world: TestWorld): Promise<void> {
  const [row] = await world.db.sql<{ fee: string }[]>`
    select max(max_fee_per_gas)::text as fee from private.relay_transactions`
  await mineAt(world, (BigInt(row?.fee ?? 0) * 99n) / 100n)
}

test('by transactions that are stored at the same moment', async () => {
  const world = await queuedCancels(cheap)
  const budget = (await booked(world)) + costAt(dear) - costAt(cheap)
  await limitGas(world, { weiPerDay: budget })
  for (let block = 0; block < 6; block += 1) await mineAt(world, dear)
  const before = await relayersHold(world)

  const through = claimingTogether(lanes)
  const workers = Array.from({ length: lanes }, () => world.worker({ fetch: through }))
  await Promise.all(workers.map(({ world: own }) => runHousekeeping(own)))
  await mineAtDearest(world)

  const spent = before - (await relayersHold(world))
  expect(spent).toBeGreaterThan(0n)
  expect(await booked(world)).toBeLessThanOrEqual(budget)
  expect(spent).toBeLessThanOrEqual(budget)
})

test('by replacements of one run when gas becomes dearer', async () => {
  const world = await queuedCancels(cheap)
  for (let run = 0; run < 3; run += 1) await runHousekeeping(world.world)
  const budget = (await booked(world)) + costAt(dear) - costAt(cheap)
  await limitGas(world, { weiPerDay: budget })
  await node(world, 'anvil_dropAllTransactions')
  for (let block = 0; block < 6; block += 1) await mineAt(world, dear)
  await elapse(world, 61)
  const before = await relayersHold(world)

  await runHousekeeping(world.world)
  await mineAtDearest(world)

  const spent = before - (await relayersHold(world))
  expect(spent).toBeGreaterThan(0n)
  expect(await booked(world)).toBeLessThanOrEqual(budget)
  expect(spent).toBeLessThanOrEqual(budget)
})
