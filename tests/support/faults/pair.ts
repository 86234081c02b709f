/** A payer, a payee that it knows, and the transfer of 10 USDC that every fault is tried on. */
import { acquainted, statesOf, usdcOf } from '../ledger.ts'
import type { Agent, Answer, TestWorld, Worker } from '../world.ts'

export type Pair = { payer: Agent; payee: Agent }

export const onePair: (world: TestWorld) => Promise<Pair> = (world) => acquainted(world)
export const paidOnce = 'settled 10000000'

/** So many pairs at once; each payer holds 1,000 USDC. */
export function pairs(world: TestWorld, count: number): Promise<Pair[]> {
  return Promise.all(Array.from({ length: count }, () => acquainted(world)))
}

/** Somebody holds every lane for five seconds, so what is signed meanwhile is queued. */
export async function holdLanes({ db }: TestWorld): Promise<void> {
  await db.sql`update private.relay_lanes set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '5 seconds'`
}

/** Asks a worker for the transfer. */
export function transfer(
  worker: Pick<Worker, 'post'>,
  { payer, payee }: Pair,
  headers?: Record<string, string>,
): Promise<Answer> {
  return worker.post(payer, transferPath, orderTo(payee), headers)
}

export const transferPath = '/wallet-custodial-transfer'

export function orderTo({ alias: recipient }: Agent, amount = '10') {
  return { chain: 'base-sepolia', token: 'USDC', amount, recipient }
}

/** What came of it: the states of the payer's payments, and what the payee holds. */
export async function outcomeOf(world: TestWorld, { payer, payee }: Pair): Promise<string> {
  return `${(await statesOf(world, payer)).join()} ${await usdcOf(world, payee)}`
}

/** The different outcomes of many pairs, in order. */
export async function outcomesOf(world: TestWorld, all: readonly Pair[]): Promise<string[]> {
  return [...new Set(await Promise.all(all.map((pair) => outcomeOf(world, pair))))].sort()
}
