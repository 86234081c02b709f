/**
 * Relayers stay within the gas budget while one of two endpoints lies about gas prices. The tests
 * measure what the chain took from them.
 */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { maxFeePerGasOf } from '../../../shared/chains/evm/gas/gas-budget.ts'
import { findChain } from '../../../shared/chains/registry.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { elapse, node, stopMining } from '../../support/faults/chain.ts'
import { cheap } from '../../support/faults/forged.ts'
import { refusingCalls, saying, tipping } from '../../support/faults/liar.ts'
import { holdLanes, onePair, transfer } from '../../support/faults/pair.ts'
import { worldOfTwo } from '../../support/faults/two.ts'
import { limitGas, relayersHold, transferTo } from '../../support/gas.ts'
import { usdcOf } from '../../support/ledger.ts'
import { authorizing, signedPayment } from '../../support/signed.ts'
import type { Agent, TestWorld } from '../../support/world.ts'

const gwei = 10n ** 9n
const hex = (value: bigint) => `0x${value.toString(16)}` as const

/** Returns the maximum price of a unit of gas for a transfer. */
function ceilingOf({ world, chain: { network } }: TestWorld): bigint {
  const chain = findChain(network)
  return chain ? maxFeePerGasOf(chain, world.config) : 0n
}

/** Passes a minute, then mines a block with this base fee and runs housekeeping. */
async function minuteAt(world: TestWorld, base: bigint) {
  await elapse(world, 61)
  await node(world, 'anvil_setNextBlockBaseFeePerGas', hex(base))
  await node(world, 'evm_mine')
  await runHousekeeping(world.world)
}

/** Returns the price per gas of each transaction that relayers sent. */
async function pricesPaid(world: TestWorld): Promise<bigint[]> {
  const sent = await world.db.sql<{ hash: string }[]>`
    select tx_hash as hash from private.relay_transactions`
  const receipt = z.object({ effectiveGasPrice: z.string().transform(BigInt) }).nullable()
  const found = await Promise.all(
    sent.map(async ({ hash }) =>
      receipt.parse(await node(world, 'eth_getTransactionReceipt', hash)),
    ),
  )
  return found.flatMap((one) => (one ? [one.effectiveGasPrice] : []))
}

/** Leaves gas prices to the lying endpoint alone, which reports a tip of half the maximum price. */
async function onlyLiarPrices({ world, liar, honest }: Awaited<ReturnType<typeof worldOfTwo>>) {
  liar.tell(tipping(ceilingOf(world) / 2n))
  honest.tell(refusingCalls('eth_feeHistory'))
}

test('a tip that one endpoint tells alone makes no transfer dearer than it was lately', async () => {
  const both = await worldOfTwo({ lanes: 1 })
  const { world } = both
  const pair = await onePair(world)
  await minuteAt(world, gwei)
  await onlyLiarPrices(both)

  const sent = await transfer(world.worker(), pair)
  await node(world, 'evm_mine')

  expect(sent.status).toBe(200)
  expect(await usdcOf(world, pair.payee)).toBe(10_000_000n)
  for (const price of await pricesPaid(world)) expect(price).toBeLessThan(3n * gwei)
})

test('a tip that one endpoint tells alone makes no replacement and no cancellation dearer', async () => {
  const both = await worldOfTwo({ lanes: 2 })
  const { world } = both
  const [pair, frozen] = [await onePair(world), await onePair(world)]
  await minuteAt(world, gwei)
  await signedPayment(world, frozen.payer, frozen.payee.address)
  await stopMining(world)
  await transfer(world.worker(), pair)
  await onlyLiarPrices(both)

  await frozen.payer.post('/account-freeze', {})
  await elapse(world, 61)
  await runHousekeeping(world.world)
  await minuteAt(world, gwei)

  const paid = await pricesPaid(world)
  expect(paid.length).toBeGreaterThan(1)
  for (const price of paid) expect(price).toBeLessThan(4n * gwei)
})

/** Signs up to `most` purchases and stops when custody refuses. Returns their number. */
async function signMany(world: TestWorld, payer: Agent, most: number): Promise<number> {
  const payee = await world.agent('read')
  await world.acquaint(payer, payee.address)
  for (let signed = 0; signed < most; signed += 1) {
    const request = await authorizing(world, payer, payee.address)
    const gas = { ...request.gas, maxFeePerGas: '3', maxPriorityFeePerGas: '1' }
    const answer = await world.world.custody?.authorize({ ...request, gas })
    if (answer?.outcome === 'gas_budget') return signed
    if (answer?.outcome !== 'signed') throw new Error(answer?.outcome)
  }
  return most
}

async function spender(world: TestWorld): Promise<Agent> {
  const payer = await world.agent('pay', { usdc: 1000 })
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1e12,
    daily_spending_cap_usd_micros = 1e12`
  return payer
}

const cancelsOnChain = async (world: TestWorld) => {
  const topic = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'
  const logs = await node(world, 'eth_getLogs', { fromBlock: '0x0', topics: [topic] })
  return z.array(z.unknown()).parse(logs).length
}

test('what was signed while one endpoint told gas too low is cancelled within the budget', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 2 })
  const weiPerDay = 160_000n * 20n * gwei
  await limitGas(world, { weiPerDay })
  const payer = await spender(world)
  for (let minute = 0; minute < 2; minute += 1) await minuteAt(world, gwei)
  const before = await relayersHold(world)

  liar.tell(cheap)
  const signed = await signMany(world, payer, 60)
  liar.tell()
  await payer.post('/account-freeze', {})
  for (let minute = 0; minute < 4; minute += 1) await minuteAt(world, gwei)

  expect(before - (await relayersHold(world))).toBeLessThanOrEqual(weiPerDay)
  expect(signed).toBeGreaterThan(2)
  expect(await cancelsOnChain(world)).toBe(signed)
})

test('cancellations stay within the budget where gas was never seen to cost more than the lie', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 2 })
  const weiPerDay = 160_000n * 3n * gwei
  await limitGas(world, { weiPerDay })
  const payer = await spender(world)
  const before = await relayersHold(world)

  liar.tell(cheap)
  const signed = await signMany(world, payer, 60)
  liar.tell()
  await payer.post('/account-freeze', {})
  for (let minute = 0; minute < 4; minute += 1) await minuteAt(world, gwei)

  const spent = before - (await relayersHold(world))
  expect(signed).toBe(60)
  expect(spent).toBeGreaterThan(0n)
  expect(spent).toBeLessThanOrEqual(weiPerDay)
})

test('transfers that were queued while one endpoint told gas too low go within the budget', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 2 })
  const weiPerDay = 160_000n * 8n * gwei
  await limitGas(world, { weiPerDay })
  const payer = await spender(world)
  const other = await onePair(world)
  const before = await relayersHold(world)

  liar.tell(cheap)
  await holdLanes(world)
  for (let at = 0; at < 20; at += 1) await transferTo(world, payer, at, '1')
  await holdLanes(world)
  liar.tell()
  for (let minute = 0; minute < 6; minute += 1) await minuteAt(world, gwei)
  const spent = before - (await relayersHold(world))
  await transfer(world.worker(), other)
  await minuteAt(world, gwei)

  expect(spent).toBeGreaterThan(0n)
  expect(spent).toBeLessThanOrEqual(weiPerDay)
  expect(await usdcOf(world, other.payee)).toBe(10_000_000n)
})

test('a price over all budgets that one endpoint tells alone holds no cancellation up', async () => {
  const { world, liar, honest } = await worldOfTwo({ lanes: 2 })
  const { payer, payee } = await onePair(world)
  const signed = await signedPayment(world, payer, payee.address)
  await runHousekeeping(world.world)
  liar.tell(
    saying('eth_feeHistory', () => ({ baseFeePerGas: [hex(10n ** 15n)], reward: [['0x1']] })),
  )
  honest.tell(refusingCalls('eth_feeHistory'))

  await payer.post('/account-freeze', {})
  for (let run = 0; run < 2; run += 1) await runHousekeeping(world.world)
  await node(world, 'evm_mine')
  const used = node(world, 'eth_call', { to: world.chain.usdc, data: signed.calldata }, 'latest')

  await expect(used).rejects.toThrow('authorization is used or canceled')
})
