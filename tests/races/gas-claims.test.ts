/** Claiming several lanes at once stays within the gas budget, even when gas has become far dearer. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { claimingTogether } from '../support/faults/answers.ts'
import { mineAt, node, stopMining } from '../support/faults/chain.ts'
import { limitGas, relayersHold, transferTo } from '../support/gas.ts'
import { start } from '../support/world.ts'

const lanes = 5
const callsMax = 25
const cheap = 50_000_000n
const dear = 4_000_000_000n

const world = await start({ chain: true, lanes, connections: 20 })

async function blocks(baseFee: bigint): Promise<void> {
  for (let at = 0; at < 6; at += 1) await mineAt(world, baseFee)
}

test('relayers spend no more for an account than its budget', async () => {
  const payer = await world.agent('pay', { usdc: 1000 })
  await limitGas(world, {})
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1e12,
    daily_spending_cap_usd_micros = 1e12`
  await blocks(cheap)
  await world.db.sql`update private.relay_lanes set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '30 minutes'`
  for (let at = 0; at < lanes * callsMax; at += 1) await transferTo(world, payer, at, '0.01')
  const reserved = await world.db.sql<{ wei: string }[]>`
    select sum(wei)::text as wei from private.gas_uses`
  // Beside the reservations, the budget has room for one transaction at the higher price.
  const oneDearer = BigInt(callsMax) * 115_000n * (2n * dear + 10n ** 6n)
  const budget = BigInt(reserved[0]?.wei ?? 0) + oneDearer
  await limitGas(world, { weiPerDay: budget })
  await stopMining(world)
  await blocks(dear)
  await world.db.sql`update private.relay_lanes set lease = null, leased_until = null`
  const before = await relayersHold(world)

  const through = claimingTogether(lanes)
  const workers = Array.from({ length: lanes }, () => world.worker({ fetch: through }))
  await Promise.all(workers.map(({ world: own }) => runHousekeeping(own)))
  await node(world, 'evm_mine')

  const spent = before - (await relayersHold(world))
  expect(spent).toBeGreaterThan(0n)
  expect(spent).toBeLessThanOrEqual(budget)
})
