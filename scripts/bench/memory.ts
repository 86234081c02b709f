/** Measures the memory that a thousand wallets without any history cost. */
import { setTimeout as pause } from 'node:timers/promises'
import { freshPayee, inParallel, productArm } from './arms.ts'
import type { Figure } from './report.ts'
import { residentBytes } from './runtimes.ts'
import type { BenchWorld } from './world.ts'

const wallets = 1_000
const atOnce = 200
const megabyte = 1_048_576

/** Measures the resident memory of the runtime while 200 of 1,000 fresh wallets pay at once. */
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
