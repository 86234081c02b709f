/** A race for a spending cap: hundreds of payments over isolates that die, and the checks after it. */
import { expect } from 'vitest'
import { breaches, resolveAll, settledAsOnChain, watchCaps } from './books.ts'
import { appWith } from './capped.ts'
import { inForm } from './cases.ts'
import { atEnd } from './ending.ts'
import { type Fleet, inTurn, openFleet } from './isolates.ts'
import { acquainted, usdcOf } from './ledger.ts'
import type { Random } from './seed.ts'
import { anew } from './wish.ts'
import { type Agent, type Answer, start, type TestWorld } from './world.ts'

const isolates = inForm(3, 8)
const path = '/wallet-custodial-transfer'
const atOnce = 25
const capMicros = inForm(2_000_000, 10_000_000)
/** Number of payments of 0.10 USD that fit into the cap. */
const fitting = capMicros / 100_000
/**
 * Most steps before an isolate is killed: about those of its first 25 payments, in which the race for the
 * cap happens.
 */
const stepsMax = 150

export type CapRace = { world: TestWorld; fleet: Fleet }

/** Starts everything for this file and ends it after the file. */
export async function openCapRace(): Promise<CapRace> {
  const world = await start({ chain: true, gasPayers: 4 })
  await world.db.sql`update private.growth_terms set bytes_at_once = 2000000000`
  await watchCaps(world)
  const fleet = await openFleet(world, isolates)
  atEnd(() => fleet.close())
  return { world, fleet }
}

/** Race for a cap: its holder, which is an account for a day or a month, and the number of payments. */
export type Run = { holder: 'account' | 'month' | 'app'; payments: number }

/** Races for the cap of a new holder. Throws unless the cap held and all of it can still be used. */
export async function raceForCap(
  { world, fleet }: CapRace,
  random: Random,
  { holder, payments }: Run,
): Promise<void> {
  const { account, payer, payee } = await capped(world, holder)
  await world.db.sql`update private.credentials set burst = 10000 where account = ${account.id}`
  const body = { recipient: payee.address, chain: 'base-sepolia', token: 'USDC', amount: '0.1' }
  const orders = Array.from({ length: payments }, () => ({
    agent: payer,
    path,
    body: anew(body),
  }))
  const lives = Array.from({ length: isolates }, () => [random.between(1, stepsMax)])

  await fleet.offer(orders, { atOnce, lives })
  await resolveAll(world)
  const paid = await settledAsOnChain(world, payer)
  expect(paid.length).toBeLessThanOrEqual(fitting)
  await endUndecided(world, account)
  await spendTheRest(payer, body, fitting - paid.length)
  await resolveAll(world)

  expect(await settledAsOnChain(world, payer)).toHaveLength(fitting)
  expect(await usdcOf(world, payee)).toBe(BigInt(capMicros))
  expect(await breaches(world, payer)).toEqual([])
}

/** Creates a payer with a known recipient and device, and sets the cap on its app or account. */
async function capped(world: TestWorld, holder: Run['holder']) {
  const { payer: account, payee } = await acquainted(world, 20)
  if (holder === 'app') {
    return { account, payee, payer: await appWith(world, account, { day: capMicros / 1_000_000 }) }
  }
  const cap = world.db.sql(`${holder === 'month' ? 'monthly' : 'daily'}_spending_cap_usd_micros`)
  await world.db.sql`update private.accounts set ${cap} = ${capMicros} where id = ${account.id}`
  return { account, payee, payer: account }
}

/** Ends what isolates that died left undecided, as a day does; a key may have 200 of them. */
async function endUndecided({ db }: TestWorld, { id }: Agent): Promise<void> {
  await db.sql`update private.payments set state = 'expired'
    where account = ${id} and state in ('prepared', 'awaiting_confirmation')`
}

/** Checks that the unused rest of the cap can be spent to the last unit, and nothing beyond it. */
async function spendTheRest(payer: Agent, body: object, payments: number): Promise<void> {
  const refused: Answer[] = []
  const left = Array.from({ length: payments }, () => body)
  await inTurn(left, 8, async (one) => {
    const answer = await payer.post(path, anew(one))
    if (answer.status !== 200) refused.push(answer)
  })
  const over = await payer.post(path, anew({ ...body, amount: '0.000001' }))

  expect(refused).toEqual([])
  expect(over).toMatchObject({ status: 403, body: { error: 'limit_exceeded' } })
}
