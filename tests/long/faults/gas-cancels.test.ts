/** Cancellations stay within the gas budget, which each signature that may need one reserves. */
import { encodeEventTopics } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import { callRpc, transact } from '../../../scripts/local/rpc.ts'
import { issuer } from '../../../scripts/local/tokens.ts'
import { tokenAbi } from '../../../shared/chains/evm/abi.ts'
import type { Hex } from '../../../shared/chains/hex.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { hex } from '../../support/chain-world.ts'
import { node, stopMining } from '../../support/faults/chain.ts'
import { limitGas, relayersHold, transferTo } from '../../support/gas.ts'
import { proven } from '../../support/ledger.ts'
import { attemptOf, execute, openMarket, prepare } from '../../support/market.ts'
import { authorizing, signedPayment } from '../../support/signed.ts'
import { authorizationCall } from '../../support/signed-call.ts'
import type { Agent, TestWorld } from '../../support/world.ts'
import { start } from '../../support/world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true, lanes: 2 })
})

/** Signs up to `most` purchases and stops when custody refuses. Returns the calldata of each. */
async function signMany(payer: Agent, most: number): Promise<Hex[]> {
  const payee = await world.agent('read')
  await world.acquaint(payer, payee.address)
  const signed: Hex[] = []
  while (signed.length < most) {
    const request = await authorizing(world, payer, payee.address)
    const answer = await world.world.custody?.authorize({ ...request, factsVersion: 1 })
    if (answer?.outcome === 'gas_budget') return signed
    if (answer?.outcome !== 'signed') throw new Error(answer?.outcome)
    if (answer.authorization) signed.push(hex(authorizationCall(answer.authorization)))
  }
  return signed
}

async function cancelsSent(): Promise<number> {
  const [row] = await world.db.sql<{ count: number }[]>`
    select count(*)::integer from private.relay_calls where kind = 'cancel' and slot is not null`
  return row?.count ?? 0
}

async function keepMined(runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
  }
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
  await keepMined(6)

  const spent = before - (await relayersHold(world))
  expect(signed.length).toBeGreaterThan(2)
  expect(await cancelsSent()).toBe(signed.length)
  expect(spent).toBeGreaterThan(0n)
  expect(spent).toBeLessThanOrEqual(weiPerDay)
})

test.each(['wei', 'number'])(
  'what was free while purchases were in a block that is gone is in the budget again, in %s',
  async (of) => {
    const weiPerDay = of === 'wei' ? 2n * 10n ** 15n : 10n ** 24n
    await limitGas(world, { weiPerDay, ...(of === 'number' ? { cancelsPerDay: 4n } : {}) })
    const payer = await world.agent('pay', { usdc: 1000 })
    await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1e12,
      daily_spending_cap_usd_micros = 1e12`
    await callRpc(world.chain.rpcUrl, [['anvil_impersonateAccount', issuer]])
    await keepMined(1)
    const fitting: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const signed = await signMany(payer, 80)
      fitting.push(signed.length)
      for (const call of signed) await transact(world.chain.rpcUrl, issuer, world.chain.usdc, call)
      await world.tick(60)
      await runHousekeeping(world.world)
    }
    const before = await relayersHold(world)

    await node(
      world,
      'anvil_reorg',
      fitting.reduce((sum, count) => sum + count),
      [],
    )
    await runHousekeeping(world.world)
    await payer.post('/account-freeze', {})
    await keepMined(12)

    const spent = before - (await relayersHold(world))
    const [first = 0] = fitting
    expect(first).toBeGreaterThan(2)
    expect(fitting).toEqual([first, first, first])
    expect(await cancelsSent()).toBe(first)
    expect(spent).toBeGreaterThan(0n)
    expect(spent).toBeLessThanOrEqual(weiPerDay)
  },
)

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

test.each(['relayers', 'the wallet'])(
  'transfers whose blocks are gone are cancelled as often as the budget has it; gas is paid by %s',
  async (who) => {
    await limitGas(world, { cancelsPerDay: 3n, ...(who === 'relayers' ? {} : { callsPerDay: 0n }) })
    const payer = await world.agent('pay', { usdc: 1000 })
    await node(world, 'anvil_setBalance', payer.address, '0xde0b6b3a7640000')
    await node(world, 'anvil_mine', '0x20')
    await runHousekeeping(world.world)
    const from = Number(await node(world, 'eth_blockNumber'))
    for (let at = 0; at < 6; at += 1) {
      const sent = await transferTo(world, payer, at, '1')
      await proven(payer, sent.body['tx_hash'])
      await runHousekeeping(world.world)
    }
    await payer.post('/account-freeze', {})

    const to = Number(await node(world, 'eth_blockNumber'))
    await node(world, 'anvil_reorg', to - from, [])
    await keepMined(12)

    const ended = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationCanceled' })
    const logs = await node(world, 'eth_getLogs', { fromBlock: '0x0', topics: ended })
    const [{ count } = { count: 0 }] = await world.db.sql<{ count: number }[]>`
      select count(*)::integer from private.payments where state = 'settled'`
    expect(logs).toHaveLength(3)
    expect(count).toBe(0)
  },
)

test('relayed transfers and their cancellations together cost no more than the budget', async () => {
  const weiPerDay = 4n * 10n ** 15n
  await limitGas(world, { weiPerDay })
  const payer = await world.agent('pay', { usdc: 1000 })
  const before = await relayersHold(world)
  await stopMining(world)
  const statuses: number[] = []
  for (let at = 0; at < 30 && !statuses.includes(429); at += 1) {
    statuses.push((await transferTo(world, payer, at, '1')).status)
  }

  await payer.post('/account-freeze', {})
  await keepMined(12)

  const sent = statuses.filter((status) => status === 200).length
  expect(sent).toBeGreaterThan(2)
  expect(statuses).toHaveLength(sent + 1)
  expect(before - (await relayersHold(world))).toBeLessThanOrEqual(weiPerDay)
  expect(await cancelsSent()).toBeGreaterThan(0)
})
