/**
 * Measures how many transfers a second reach the chain, and how long one takes at a fixed rate of
 * arrival. Only the chain's own Transfer logs count, from the moment that they can be seen.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Figure, quantile } from './report.ts'
import {
  type Arm,
  freshPayee,
  inParallel,
  nonceManagerArm,
  productArm,
  waitingArm,
} from './runtimes.ts'
import { type BenchWorld, watchPayees } from './world.ts'

const transfers = 1_000
const clients = 50
const waitingTransfers = 8
const lookEveryMilliseconds = 20
const timeoutMilliseconds = 120_000

/** Measures transfers a second of three arms. Needs a world that mines one block a second. */
export async function benchThroughput(world: BenchWorld): Promise<Figure[]> {
  const [ours, managed] = [await productArm(world, 10), await nonceManagerArm(world)]
  await run(world, ours, 100, clients)
  await run(world, managed, 100, clients)
  const rates: Record<'ours' | 'managed', number[]> = { ours: [], managed: [] }
  for (let round = 0; round < 3; round += 1) {
    rates.ours.push((await run(world, ours, transfers, clients)).perSecond)
    rates.managed.push((await run(world, managed, transfers, clients)).perSecond)
  }
  const waiting = await run(world, await waitingArm(world), waitingTransfers, 1)
  const [best, managedBest] = [quantile(rates.ours, 0.5), quantile(rates.managed, 0.5)]
  const detail = {
    'transfers a second': best,
    'viem with its nonce manager, a second': managedBest,
    'viem awaiting each receipt, a second': waiting.perSecond,
  }
  return [
    {
      name: 'throughput over viem with its nonce manager',
      value: best / managedBest,
      target: 1.5,
      isMinimum: true,
      detail,
    },
    {
      name: 'throughput over awaiting each receipt',
      value: best / waiting.perSecond,
      target: 300,
      isMinimum: true,
      detail,
    },
  ]
}

async function run(world: BenchWorld, arm: Arm, count: number, parallel: number) {
  const payees = Array.from({ length: count }, freshPayee)
  const watch = await watchPayees(world)
  const began = performance.now()
  const sent = inParallel(count, parallel, async (at) => arm(payees[at] ?? '0x'))
  await Promise.all([sent, untilPaid(watch, payees)])
  const last = Math.max(...payees.map((payee) => watch.seen.get(payee.toLowerCase())?.at ?? 0))
  return { perSecond: (1_000 * count) / (last - began) }
}

async function untilPaid(
  { seen, look }: Awaited<ReturnType<typeof watchPayees>>,
  payees: readonly string[],
) {
  const deadline = performance.now() + timeoutMilliseconds
  while (payees.some((payee) => !seen.has(payee.toLowerCase()))) {
    if (performance.now() > deadline) throw new Error('not all transfers reached the chain')
    await look()
    await pause(lookEveryMilliseconds)
  }
}

const perSecond = 50
const openLoopSeconds = 20
const blockMilliseconds = 1_000

/** Measures transfers that arrive at a fixed rate, whether or not earlier ones are done. */
export async function benchOpenLoop(world: BenchWorld): Promise<Figure[]> {
  const arm = await productArm(world, 10)
  await run(world, arm, 50, 10)
  const count = perSecond * openLoopSeconds
  const payees = Array.from({ length: count }, freshPayee)
  const watch = await watchPayees(world)
  const asked = new Map<string, number>()
  const began = performance.now()
  const send = async (payee: `0x${string}`, at: number) => {
    await pause(began + (1_000 * at) / perSecond - performance.now())
    asked.set(payee, performance.now())
    await arm(payee)
  }
  await Promise.all([...payees.map(send), untilPaid(watch, payees)])
  const latencies = payees.map(
    (payee) => (watch.seen.get(payee.toLowerCase())?.at ?? Number.NaN) - (asked.get(payee) ?? 0),
  )
  const [p50, p95] = [quantile(latencies, 0.5), quantile(latencies, 0.95)]
  const detail = { 'p50 ms': p50, 'p95 ms': p95 }
  return [
    {
      name: 'open loop at 50 a second, p50 ms to included',
      value: p50,
      target: blockMilliseconds / 2 + 60,
      detail,
    },
    {
      name: 'open loop at 50 a second, p95 ms to included',
      value: p95,
      target: blockMilliseconds + 150,
      detail,
    },
  ]
}
