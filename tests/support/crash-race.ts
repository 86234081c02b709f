/** Payments while PostgreSQL and isolates crash, with clients that retry. */

import { expect } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { resolveAll, settledAsOnChain } from './books.ts'
import { type CrashingPostgres, openCrashingPostgres } from './crashing-postgres.ts'
import { atEnd } from './ending.ts'
import { type Fleet, type Order, openFleet, type Reply } from './isolates.ts'
import { acquainted, usdcOf } from './ledger.ts'
import type { Random } from './seed.ts'
import { type Agent, start, type TestWorld } from './world.ts'

const isolates = 4
const path = '/wallet-custodial-transfer'
const payers = 5
const atOnce = 4
/** Most steps before an isolate is killed: about those of its first payments. */
const stepsMax = 40
/** Seconds after which a retry finds the idempotency claim and the payment lease free. */
const retrySeconds = 61

export type Scene = { world: TestWorld; server: CrashingPostgres; fleet: Fleet }
/** Numbers of events: a crash is one of PostgreSQL, a kill one of an isolate. */
export type Troubles = { payments: number; crashes: number; kills: number }

type Pair = { payer: Agent; payee: Agent }
type PairedOrder = Order & { pair: Pair; answer?: Reply }

/** Starts everything for this file and ends it after the file. */
export async function openScene(): Promise<Scene> {
  const server = await openCrashingPostgres()
  const world = await start({ chain: true, gasPayers: 4, database: server })
  await world.db.sql`update private.growth_terms set bytes_at_once = 2000000000`
  const fleet = await openFleet(world, isolates)
  atEnd(() => fleet.close())
  return { world, server, fleet }
}

/** Pays through all crashes and kills. Throws unless clients, ledger and chain agree. */
export async function payThroughCrashes(
  scene: Scene,
  random: Random,
  troubles: Troubles,
): Promise<void> {
  const { world, fleet } = scene
  const pairs = await Promise.all(Array.from({ length: payers }, () => acquainted(world)))
  const orders = Array.from({ length: troubles.payments }, (_, at) => orderOf(pairs, at))
  const share = Math.ceil(troubles.payments / troubles.crashes)

  for (let round = 0; round < 4 * troubles.crashes; round += 1) {
    const waiting = orders.filter(({ answer }) => answer === undefined).slice(0, share)
    if (waiting.length === 0) break
    const isDeadly = fleet.deaths() < troubles.kills
    const happening = { isCrashing: round < troubles.crashes, isDeadly, random }
    await offerOnce(scene, waiting, happening)
    await world.tick(retrySeconds)
    await runHousekeeping(world.world)
  }
  await resolveAll(world)

  for (const pair of pairs) await expectPaidOnce(world, pair, orders)
  expect(fleet.deaths()).toBeGreaterThanOrEqual(troubles.kills)
}

/** Sends each order once. An order without a definite answer stays for the next round. */
async function offerOnce(
  { server, fleet }: Scene,
  orders: readonly PairedOrder[],
  { isCrashing, isDeadly, random }: { isCrashing: boolean; isDeadly: boolean; random: Random },
): Promise<void> {
  const crashesAt = isCrashing ? random.between(1, orders.length / 2) : undefined
  const doomed = isDeadly ? random.between(0, isolates - 1) : undefined
  const steps = random.between(1, stepsMax)
  const lives = Array.from({ length: isolates }, (_, at) => (at === doomed ? [steps] : []))
  let crashing: Promise<void> | undefined
  const onOver = (over: number) => {
    if (over === crashesAt) crashing = server.crash()
  }
  const replies = await fleet.offer(orders, { atOnce, lives, onOver })
  await crashing
  orders.forEach((order, at) => {
    const reply = replies[at]
    if (reply?.status === 200) order.answer = reply
  })
}

function orderOf(pairs: readonly Pair[], at: number): PairedOrder {
  const pair = pairs[at % pairs.length]
  if (!pair) throw new Error('nobody pays')
  const { payer: agent, payee } = pair
  const body = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '0.1' }
  return { agent, path, body, key: `order-${at}`, pair }
}

/** Checks that payments reported as released were not made, and all others exactly once. */
async function expectPaidOnce(world: TestWorld, pair: Pair, orders: readonly PairedOrder[]) {
  const answers = orders.filter((order) => order.pair === pair).map(({ answer }) => answer?.body)
  const told = answers.flatMap((body) =>
    body?.['status'] === 'released' ? [] : [String(body?.['transfer_id'])],
  )
  const settled = await settledAsOnChain(world, pair.payer)

  expect(answers.filter((body) => body === undefined)).toEqual([])
  expect(settled.toSorted()).toEqual(told.toSorted())
  expect(await usdcOf(world, pair.payee)).toBe(BigInt(settled.length) * 100_000n)
}
