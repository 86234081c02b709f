/**
 * Measures what the project promises about speed, as ratios of two arms that take turns in one run
 * on one machine. It is not a test: it prints its figures and never fails because of them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { benchCommandLine } from './bench/command-line.ts'
import { benchContention } from './bench/correctness/contention.ts'
import { benchCorrectness } from './bench/correctness/correctness.ts'
import { benchRecovery } from './bench/correctness/recovery.ts'
import { benchCovered } from './bench/covered.ts'
import { benchFeed } from './bench/feed.ts'
import { benchGrowth } from './bench/growth.ts'
import { benchIdentity } from './bench/identity.ts'
import { benchMandates } from './bench/mandates.ts'
import { benchPages } from './bench/pages.ts'
import { benchMemory, cpuByProgram } from './bench/processes.ts'
import { benchPurchases } from './bench/purchases.ts'
import { benchAgainst, type Figure, printFigures } from './bench/report.ts'
import { benchOpenLoop, benchThroughput } from './bench/throughput.ts'
import { benchGas, benchTransfer } from './bench/transfer.ts'
import { benchVaultUse } from './bench/vault-use.ts'
import { type BenchOptions, type BenchWorld, openBenchWorld } from './bench/world.ts'
import { benchX402 } from './bench/x402.ts'

const help = `npm run bench -- [--only x402] [--rounds 10] [--rows 1000000] [--transfers 10000]
             [--arm workers|node] [--out .local/bench.json] [--against main] [--turns 5]

Starts worlds of its own on free ports, measures, prints ratios and writes them as JSON. Takes about
half an hour.

--rounds     how often the arms of each measurement take turns
--rows       rows of the large tables
--transfers  transfers of the correctness arm
--only       a part of the name of what is measured, such as gas
--arm        where the functions run: workers, or Node as npm run serve does
--out        where the figures are written
--against    a branch or commit that is cloned, installed and measured in turns with this one; prints ratios
--turns      how often the two take turns`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    rounds: { type: 'string', default: '10' },
    rows: { type: 'string', default: '1000000' },
    transfers: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
    out: { type: 'string', default: '.local/bench.json' },
    against: { type: 'string' },
    arm: { type: 'string', default: 'workers' },
    turns: { type: 'string', default: '5' },
  },
})

type Measurement = (world: BenchWorld) => Promise<Figure[]>

const rounds = Number(values.rounds)
const rows = Number(values.rows)
const transfers = Number(values.transfers)

/** Measurements on a chain that mines each transaction at once. */
const atOnce: Record<string, Measurement> = {
  identity: (world) => benchIdentity(world, rounds),
  cli: (world) => benchCommandLine(world, rounds),
  x402: (world) => benchX402(world, rounds),
  covered: (world) => benchCovered(world, rounds),
  transfer: (world) => benchTransfer(world, rounds),
  gas: benchGas,
  pages: (world) => benchPages(world, rounds),
  purchases: benchPurchases,
  memory: benchMemory,
  mandates: benchMandates,
  contention: benchContention,
  feed: (world) => benchFeed(world, rounds, rows),
  growth: (world) => benchGrowth(world, rows),
  vault: (world) => benchVaultUse(world, rounds),
}
/** Measurements on a chain with one block a second. */
const inBlocks: Record<string, Measurement> = {
  throughput: benchThroughput,
  loop: benchOpenLoop,
  recovery: benchRecovery,
  correctness: (world) => benchCorrectness(world, transfers),
}

if (values.help) console.log(help)
else if (values.against !== undefined) {
  const { against: ref, turns, only, rounds: each, rows: most } = values
  benchAgainst({ ref, turns: Number(turns), only, rounds: each, rows: most })
} else await run()

async function run(): Promise<void> {
  const figures = [
    ...(await measure(atOnce, { gasPayers: 4 })),
    ...(await measure(inBlocks, { gasPayers: 4, blockTimeSeconds: 1 })),
  ]
  mkdirSync(dirname(values.out), { recursive: true })
  const found = { at: new Date().toISOString(), figures }
  writeFileSync(values.out, `${JSON.stringify(found, null, 2)}\n`)
  process.exit(0)
}

/** Prints the CPU seconds that the programs of the world have used since then, the most first. */
function printCpu(name: string, before: ReadonlyMap<string, number>): void {
  const used = [...cpuByProgram()]
    .map(([program, seconds]) => ({ program, seconds: seconds - (before.get(program) ?? 0) }))
    .filter(({ seconds }) => seconds > 0)
    .sort((a, b) => b.seconds - a.seconds)
    .map(({ program, seconds }) => `${program} ${seconds.toFixed(1)}`)
  console.log(`CPU seconds of ${name}, by program: ${used.join(', ')}`)
}

async function measure(measurements: Record<string, Measurement>, options: BenchOptions) {
  const chosen = Object.entries(measurements).filter(([name]) => name.includes(values.only))
  if (chosen.length === 0) return []
  const world = await openBenchWorld({ ...options, isOnNode: values.arm === 'node' })
  const figures: Figure[] = []
  try {
    for (const [name, measurement] of chosen) {
      const before = cpuByProgram()
      const found = await measurement(world)
      printFigures(found)
      printCpu(name, before)
      figures.push(...found)
    }
  } finally {
    await world.stop()
  }
  return figures
}
