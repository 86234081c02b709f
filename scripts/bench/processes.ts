/** CPU time of this process and of all that it started, as the kernel counts it (proc(5), Linux). */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { Figure } from './report.ts'
import { freshPayee, inParallel, productArm, residentBytes } from './runtimes.ts'
import type { BenchWorld } from './world.ts'

/** Kernel ticks in a second: 100 on every Linux that the project runs on. */
const ticksPerSecond = 100

/** Requests that a load consists of, and how many of them are sent at once. */
export type Load = { url: string; key: string; requests: number; parallel: number }

/** Sends a load from another process. Returns its latencies and the CPU seconds that serving it took. */
export async function measureLoad(
  load: Load,
): Promise<{ latencies: number[]; cpuSeconds: number }> {
  const script = fileURLToPath(new URL('load.ts', import.meta.url))
  const before = cpuSeconds()
  const { url, key, requests, parallel } = load
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, url, key, String(requests), String(parallel)],
    { maxBuffer: 64 * 1024 * 1024, timeout: 300_000 },
  )
  const latencies = z.array(z.number()).parse(JSON.parse(stdout))
  return { latencies, cpuSeconds: cpuSeconds() - before }
}

/** Sums the CPU time of living processes. Children that have ended, such as the sender, do not count. */
function cpuSeconds(): number {
  return [...cpuByProgram().values()].reduce((sum, seconds) => sum + seconds, 0)
}

/** Returns the CPU seconds of living processes by the name of their program. */
export function cpuByProgram(): Map<string, number> {
  const all = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(readStat)
  const live = new Map(all.filter((stat) => stat !== undefined).map((stat) => [stat.pid, stat]))
  const seconds = new Map<string, number>()
  for (const { pid, program, ticks } of live.values()) {
    if (!isOurs(pid, live)) continue
    seconds.set(program, (seconds.get(program) ?? 0) + ticks / ticksPerSecond)
  }
  return seconds
}

type Stat = { pid: number; program: string; parent: number; ticks: number }

function readStat(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [, parent = '0'] = fields
    const [user = '0', system = '0'] = fields.slice(11, 13)
    const program = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
    const ticks = Number(user) + Number(system)
    return { pid: Number(pid), program, parent: Number(parent), ticks }
  } catch {
    return undefined
  }
}

function isOurs(pid: number, live: ReadonlyMap<number, Stat>): boolean {
  for (let at = pid; at > 1; at = live.get(at)?.parent ?? 0) if (at === process.pid) return true
  return false
}

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
