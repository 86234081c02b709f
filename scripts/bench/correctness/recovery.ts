/** Measures how long signed payments take to be paid if all workers are killed under load. */
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import type { Figure } from '../report.ts'
import { freshPayee, inParallel, productArm, runtimesOf } from '../runtimes.ts'
import { type BenchWorld, watchPayees } from '../world.ts'

const transfers = 400
const clients = 50
const drainMillisecondsMax = 60_000

const payeeRows = z.array(z.object({ payee: z.string() }))

/** Kills the runtime in a burst, restarts it, and measures until no signed payment is unpaid. */
export async function benchRecovery(world: BenchWorld): Promise<Figure[]> {
  const arm = await productArm(world, 10)
  await inParallel(20, 10, async () => arm(freshPayee()))
  const watch = await watchPayees(world)
  const load = inParallel(transfers, clients, async () => arm(freshPayee()).catch(() => undefined))
  await pause(1_500)
  for (const pid of runtimesOf(process.pid)) process.kill(pid, 'SIGKILL')
  const killed = performance.now()
  const left = await unpaid(world, watch)
  await load
  await world.restartWorkers()
  let unpaidNow = left
  while (unpaidNow > 0 && performance.now() - killed < drainMillisecondsMax) {
    await pause(100)
    unpaidNow = await unpaid(world, watch)
  }
  const seconds = (performance.now() - killed) / 1_000
  const detail = { 'signed and unpaid when killed': left, 'left in the end': unpaidNow }
  return [
    {
      name: 'seconds until the queue of killed workers is paid',
      value: seconds,
      target: 15,
      detail,
    },
  ]
}

/** Counts the signed payments whose payee the chain has not paid. */
async function unpaid({ sql }: BenchWorld, { seen, look }: Watch): Promise<number> {
  await look()
  const rows = await sql`select lower(payee) as payee from private.payments where state = 'signed'`
  return payeeRows.parse([...rows]).filter(({ payee }) => !seen.has(payee)).length
}

type Watch = Awaited<ReturnType<typeof watchPayees>>
