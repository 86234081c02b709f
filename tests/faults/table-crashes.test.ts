/** Rows of the fault table hold where a worker dies or loses its connection between two steps. */
import { beforeAll, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { excerptOf } from '../support/cases.ts'
import { pass } from '../support/faults/chain.ts'
import {
  holdGasPayers,
  outcomeOf,
  outcomesOf,
  type Pair,
  paidOnce,
  pairs,
  transfer,
} from '../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../support/faults/settle.ts'
import { type Strike, strikesAt, unreliable } from '../support/faults/unreliable.ts'
import { start, type TestWorld } from '../support/world.ts'

const once = { 'idempotency-key': 'once' }
/** Seconds after which the gas payers, claims and leases of a dead worker are free again. */
const heldSeconds = 61

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Transfers with a separate worker until the strike. Returns the number of its requests. */
async function struckTransfer(pair: Pair, strike?: Strike): Promise<number> {
  const network = unreliable(strike)
  const pause = (milliseconds: number) => world.tick(milliseconds / 1000)
  await transfer(world.worker({ fetch: network.fetch, pause }), pair, once)
  return network.requests()
}

/** Returns a pair for each strike at a transfer; for an excerpt of `count` of them in `npm test`. */
async function struckPairs(count = Number.POSITIVE_INFINITY): Promise<[Strike, Pair][]> {
  const [healthy] = await pairs(world, 1)
  const all = healthy ? strikesAt(await struckTransfer(healthy)) : []
  const strikes = excerptOf(all, count)
  const struck = await pairs(world, strikes.length)
  return struck.flatMap((pair, at) => strikes.slice(at, at + 1).map((strike) => [strike, pair]))
}

test('3-9. a transfer interrupted at any step ends paid once, or unpaid and free', async () => {
  const struck = await struckPairs()
  for (const [strike, pair] of struck) {
    await struckTransfer(pair, strike)
    await pass(world, heldSeconds)
  }

  await settleAll(world)

  const outcomes = await Promise.all(struck.map(([, pair]) => outcomeOf(world, pair)))
  expect(outcomes.length).toBeGreaterThanOrEqual(21)
  const unpaid = ['', 'prepared', 'expired', 'released'].map((state) => `${state} 0`)
  expect(new Set(outcomes)).toEqual(new Set([...unpaid, paidOnce]))
  await ledgerEqualsChain(world)
})

test('3-9. what was interrupted at any step is paid once when its key comes again', async () => {
  const struck = await struckPairs(8)
  for (const [strike, pair] of struck) {
    await struckTransfer(pair, strike)
    await pass(world, heldSeconds)
    await struckTransfer(pair)
    await runHousekeeping(world.world)
  }

  await settleAll(world)

  for (const [strike, pair] of struck) {
    expect.soft(await outcomeOf(world, pair), JSON.stringify(strike)).toMatch(paidOnceAtLast)
  }
  await ledgerEqualsChain(world)
})

test('3-9. a key that comes again at once never pays what was interrupted twice', async () => {
  const struck = await struckPairs(8)
  for (const [strike, pair] of struck) {
    await struckTransfer(pair, strike)
    await struckTransfer(pair)
    await pass(world, heldSeconds)
  }

  await settleAll(world)

  for (const [strike, pair] of struck) {
    expect.soft(await outcomeOf(world, pair), JSON.stringify(strike)).toMatch(paidOnceAtMost)
  }
  await ledgerEqualsChain(world)
})

/**
 * Outcomes of a repeat after the leases ended. A payment that was never reserved may have expired first.
 */
const paidOnceAtLast = new RegExp(`^(expired,)?${paidOnce}$`)
/**
 * Outcomes of an immediate repeat. The caller has to come back if the key is held. The repeat does not
 * sign a payment that another worker reserved and may still sign, so that payment may end unpaid.
 */
const paidOnceAtMost = new RegExp(`^((expired,)?${paidOnce}|(|prepared|expired|released) 0)$`)

/** Leaves work for every part of housekeeping: a mined payment, an unsent one and a queued one. */
async function leaveUnfinished([mined, unsent, queued]: readonly Pair[]): Promise<void> {
  if (!mined || !unsent || !queued) throw new Error('three pairs are needed')
  await transfer(world.worker(), mined)
  const { fetch } = unreliable({ fault: 'dies', at: requestsBeforeBroadcast + 1 })
  await transfer(world.worker({ fetch }), unsent)
  await holdGasPayers(world)
  await transfer(world.worker(), queued)
  await pass(world, heldSeconds)
}

/** Number of requests before the broadcast: begin, look at the chain, authorize and record. */
const requestsBeforeBroadcast = 4

test('7. housekeeping interrupted at any step loses nothing and doubles nothing', async () => {
  const first = await pairs(world, 3)
  await leaveUnfinished(first)
  const healthy = unreliable()
  await runHousekeeping(world.worker(healthy).world)
  const all = strikesAt(healthy.requests()).filter(({ fault }) => fault !== 'request lost')
  const strikes = excerptOf(all, 6)
  const rest = await pairs(world, 3 * strikes.length)

  for (const [at, strike] of strikes.entries()) {
    await leaveUnfinished(rest.slice(3 * at, 3 * at + 3))
    const { fetch } = unreliable(strike)
    await runHousekeeping(world.worker({ fetch }).world).catch(() => {})
    await pass(world, heldSeconds)
    await runHousekeeping(world.world)
  }
  await settleAll(world)

  expect(all.length).toBeGreaterThanOrEqual(24)
  expect(await outcomesOf(world, [...first, ...rest])).toEqual([paidOnce])
  await ledgerEqualsChain(world)
}, 60_000)

test('29. housekeeping in many places at once does nothing twice', async () => {
  const paid = await pairs(world, 9)
  for (let at = 0; at < paid.length; at += 3) await leaveUnfinished(paid.slice(at, at + 3))

  for (let round = 0; round < 3; round += 1) {
    await Promise.all(Array.from({ length: 4 }, () => runHousekeeping(world.worker().world)))
    await pass(world, heldSeconds)
  }
  await settleAll(world)

  expect(await outcomesOf(world, paid)).toEqual([paidOnce])
  await ledgerEqualsChain(world)
})
