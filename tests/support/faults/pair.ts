/** A payer, a payee that it knows, and the transfer of 10 USDC that every fault is tried on. */
import { acquainted, statesOf, usdcOf } from '../ledger.ts'
import { anew } from '../wish.ts'
import type { Agent, Answer, TestWorld, Worker } from '../world.ts'

export type Pair = { payer: Agent; payee: Agent }

export const onePair: (world: TestWorld) => Promise<Pair> = (world) => acquainted(world)
export const paidOnce = 'settled 10000000'

/** Creates pairs in parallel; each payer holds 1,000 USDC. */
export function pairs(world: TestWorld, count: number): Promise<Pair[]> {
  return Promise.all(Array.from({ length: count }, () => acquainted(world)))
}

/** Leases every gas payer for five seconds, so transfers signed meanwhile are queued. */
export async function holdGasPayers({ db }: TestWorld): Promise<void> {
  await db.sql`update private.gas_payers set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '5 seconds'`
}

/** Asks a worker for the transfer. */
export function transfer(
  worker: Pick<Worker, 'post'>,
  { payer, payee }: Pair,
  headers?: Record<string, string>,
): Promise<Answer> {
  const order = headers ? fixedOrderTo(payee) : orderTo(payee)
  return worker.post(payer, transferPath, order, headers)
}

export const transferPath = '/wallet-custodial-transfer'

/** Returns an order that is a wish of its own. */
export function orderTo(payee: Agent, amount?: string) {
  return anew(fixedOrderTo(payee, amount))
}

function fixedOrderTo({ alias: recipient }: Agent, amount = '10') {
  return { chain: 'base-sepolia', token: 'USDC', amount, recipient }
}

/** Returns the states of the payer's payments and the payee's balance. */
export async function outcomeOf(world: TestWorld, { payer, payee }: Pair): Promise<string> {
  return `${(await statesOf(world, payer)).join()} ${await usdcOf(world, payee)}`
}

/** Returns the distinct outcomes of many pairs, sorted. */
export async function outcomesOf(world: TestWorld, all: readonly Pair[]): Promise<string[]> {
  return [...new Set(await Promise.all(all.map((pair) => outcomeOf(world, pair))))].sort()
}
