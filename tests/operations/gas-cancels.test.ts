/** What cancellations may cost relayers: it is reserved when something is signed that may need one. */
import { beforeEach, expect, test } from 'vitest'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { node } from '../support/faults/chain.ts'
import { limitGas, relayersHold, transferTo } from '../support/gas.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'
import { authorizing, signedPayment } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true, lanes: 2 })
})

/** Signs purchases until custody signs no more, or so many; answers how many there are. */
async function signMany(payer: Agent, most: number): Promise<number> {
  const payee = await world.agent('read')
  for (let count = 0; count < most; count += 1) {
    const request = await authorizing(world, payer, payee.address)
    const answer = await world.world.custody?.authorize({ ...request, factsVersion: 1 })
    if (answer?.outcome === 'gas_budget') return count
    if (answer?.outcome !== 'signed') throw new Error(answer?.outcome)
  }
  return most
}

test('the cancellations of all that an account had signed cost no more than its budget', async () => {
  const weiPerDay = 2n * 10n ** 15n
  await limitGas(world, { weiPerDay })
  const payer = await world.agent('pay', { usdc: 1000 })
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1e12,
    daily_spending_cap_usd_micros = 1e12`
  const before = await relayersHold(world)

  const signed = await signMany(payer, 80)
  await payer.post('/account-freeze', {})
  for (let run = 0; run < 6; run += 1) {
    await keepHouse(world.world)
    await node(world, 'evm_mine')
  }

  const spent = before - (await relayersHold(world))
  const [cancels] = await world.db.sql`select count(*)::integer from private.relay_calls
    where kind = 'cancel' and slot is not null`
  expect(signed).toBeGreaterThan(2)
  expect(cancels).toEqual({ count: signed })
  expect(spent).toBeGreaterThan(0n)
  expect(spent).toBeLessThanOrEqual(weiPerDay)
})

test('what is kept for the cancellation of a purchase is free once the purchase is settled', async () => {
  const market = await openMarket()
  const agent = await market.agent('pay', { usdc: 1 })
  const buy = async () => {
    const prepared = await prepare(agent, { resource_url: market.merchant.v2Url })
    return execute(agent, attemptOf(prepared))
  }
  const first = await buy()
  const [kept] = await market.db.sql<{ wei: bigint }[]>`
    select wei from private.gas_uses where kind = 'cancel' and slot is null`
  await limitGas(market, { weiPerDay: (3n * BigInt(kept?.wei ?? 0n)) / 2n })

  const second = await buy()
  await market.db.sql`update private.payments set state = 'unknown', settled_at = null
    where account = ${agent.id}`
  const third = await buy()

  expect([first.status, second.status]).toEqual([200, 200])
  expect(third).toMatchObject({ status: 429, body: { error: 'relay_limit_reached' } })
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('what is kept for cancellations leaves less for transfers, and no fewer calls', async () => {
  await limitGas(world, { callsPerDay: 1n })
  const payer = await world.agent('pay', { usdc: 1000 })
  const payee = await world.agent('read')
  await signedPayment(world, payer, payee.address)

  const one = await transferTo(world, payer, 1, '1')
  await limitGas(world, { weiPerDay: 10n ** 9n })
  const other = await transferTo(world, payer, 2, '1')

  expect([one.status, other.status]).toEqual([200, 429])
})
