/**
 * What remains when all workers are killed under load, and what a thousand wallets that were never
 * used cost in memory.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { freshPayee, inParallel, productArm, watchPayees } from './arms.ts'
import type { Figure } from './report.ts'
import type { BenchWorld } from './world.ts'

const transfers = 400
const clients = 50
const wallets = 1_000
const atOnce = 200
const drainMillisecondsMax = 60_000
const megabyte = 1_048_576

const payeeRows = z.array(z.object({ payee: z.string() }))

/** Kills the runtime in the middle of a burst and times how long until nothing signed is unpaid. */
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

/** Payments with a signature whose payee the chain has not paid. */
async function unpaid({ sql }: BenchWorld, { seen, look }: Watch): Promise<number> {
  await look()
  const rows = await sql`select lower(payee) as payee from private.payments where state = 'signed'`
  return payeeRows.parse([...rows]).filter(({ payee }) => !seen.has(payee)).length
}

type Watch = Awaited<ReturnType<typeof watchPayees>>

/** Resident memory of the runtime while 200 of 1,000 fresh wallets pay at once. */
export async function benchMemory(world: BenchWorld): Promise<Figure[]> {
  const arm = await productArm(world, wallets)
  let peak = 0
  const ending = new AbortController()
  const watching = (async () => {
    while (!ending.signal.aborted) {
      peak = Math.max(peak, residentBytes(process.pid))
      await pause(50)
    }
  })()
  await inParallel(atOnce, atOnce, async () => arm(freshPayee()))
  ending.abort()
  await watching
  const detail = { wallets, 'transfers at once': atOnce }
  return [{ name: 'resident MB of the runtime', value: peak / megabyte, target: 400, detail }]
}

/** workerd processes below this one (proc(5), Linux). */
function runtimesOf(parent: number): number[] {
  const below = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => statusOf(pid))
    .filter((status) => status.parent === parent)
  return below.flatMap(({ pid, name }) => [
    ...(name.startsWith('workerd') ? [pid] : []),
    ...runtimesOf(pid),
  ])
}

function residentBytes(parent: number): number {
  const sizes = runtimesOf(parent).flatMap((pid) => statusOf(String(pid)))
  return sizes.reduce((sum, { residentKilobytes }) => sum + residentKilobytes * 1_024, 0)
}

function statusOf(pid: string) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(text)?.[1] ?? ''
    return [
      {
        pid: Number(pid),
        name: field('Name'),
        parent: Number(field('PPid')),
        residentKilobytes: Number(field('VmRSS')),
      },
    ]
  } catch {
    return []
  }
}
