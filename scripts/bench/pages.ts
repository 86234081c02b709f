/**
 * The owner's pages: the time to the first byte, compared with a bare page that makes the same database
 * calls, and the bytes of a first visit with style and scripts.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import * as z from 'zod'
import { readFunctions } from '../local/functions.ts'
import { choosePorts } from '../local/process/ports.ts'
import { startWorkers } from '../local/workers.ts'
import { routesOf } from '../screenshots/places.ts'
import { startFloor } from './floor.ts'
import { type Call, type Figure, median, startRecorder } from './report.ts'
import { askPage, type BenchWorld, bindingsOf, openOwner } from './world.ts'

const asksEachRound = 10

/** Measures every page that `callsOf` finds. Each figure is the worst page's. */
export async function benchPages(world: BenchWorld, rounds: number): Promise<Figure[]> {
  const cookie = await openOwner(world)
  const calls = await callsOf(world, cookie)
  const paths = [...calls.keys()]
  const asText = JSON.stringify(Object.fromEntries(calls))
  const floor = await startFloor(world, 'page-floor-worker', { CALLS: asText })
  try {
    const urls = paths.flatMap((path) => [`${world.url}${path}`, `${floor.url}/floor${path}`])
    await firstBytes(cookie, asksEachRound, urls)
    const latencies = await firstBytes(cookie, rounds * asksEachRound, urls)
    const speeds = paths.map((path, at): [string, number] => {
      const [ours = [], least = []] = latencies.slice(2 * at)
      return [path, median(ours) / median(least)]
    })
    const sizes = await Promise.all(
      paths.map(
        async (path): Promise<[string, number]> => [
          path,
          (await firstVisitBytes(world.url, path, cookie)) / 1024,
        ],
      ),
    )
    return [
      worst('pages, first byte over a bare page with the same database calls', speeds, 2.5),
      worst('pages, KB of a first visit with style and scripts, gzip', sizes, 50),
    ]
  } finally {
    await floor.stop()
  }
}

function worst(name: string, found: readonly [string, number][], target: number): Figure {
  const value = Math.max(...found.map(([, one]) => one))
  return { name, value, target, detail: Object.fromEntries(found) }
}

/** Records the database calls of every page that needs no id in its path. */
async function callsOf(world: BenchWorld, cookie: string): Promise<Map<string, Call[][]>> {
  const recorder = await startRecorder(world.gatewayUrl)
  const { functions: port } = await choosePorts(0)
  const bindings = { ...bindingsOf(world, world.chain.rpcUrl), SUPABASE_URL: recorder.url }
  const log = (line: string) => console.error(line)
  // The pages alone: scheduled functions would add calls of their own.
  const web = (await readFunctions()).filter(({ folder }) => folder === 'web')
  const functions = web.map((one) => ({ ...one, services: [], crons: [] }))
  const modules = world.modules
  const workers = await startWorkers({ functions, port, modules, bindings, log })
  const calls = new Map<string, Call[][]>()
  try {
    const routes = await routesOf(world.modules)
    for (const path of routes.filter((route) => !route.includes(':'))) {
      recorder.take()
      const { status } = await askPage(`${workers.url}${path}`, cookie)
      if (status === 200) calls.set(path, recorder.take())
    }
    return calls
  } finally {
    await workers.stop()
    await recorder.close()
  }
}

/** Returns one list of milliseconds for each address. */
async function firstBytes(cookie: string, rounds: number, urls: readonly string[]) {
  const script = fileURLToPath(new URL('first-byte.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, cookie, String(rounds), ...urls],
    { maxBuffer: 64 * 1024 * 1024, timeout: 300_000 },
  )
  return z.array(z.array(z.number())).parse(JSON.parse(stdout))
}

/** Counts the bytes after gzip, because the edge compresses what it sends and the local world does not. */
async function firstVisitBytes(url: string, path: string, cookie: string): Promise<number> {
  const { body: page } = await askPage(`${url}${path}`, cookie)
  const parts = [...page.matchAll(/(?:href|src)="(\/web\/assets\/[^"]+)"/g)].map(([, part]) => part)
  const answers = await Promise.all(parts.map((part) => askPage(`${url}${part}`, cookie)))
  const all = [page, ...answers.map(({ body }) => body)]
  return all.reduce((sum, text) => sum + gzipSync(text).length, 0)
}
