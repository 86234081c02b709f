/**
 * Measures what the project promises about speed, as ratios of two arms that take turns in one run
 * on one machine. It is no test: it prints what it found and fails nothing.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { benchFeed } from './bench/feed.ts'
import { benchIdentity } from './bench/identity.ts'
import { printFigures } from './bench/report.ts'
import { benchTransfer } from './bench/transfer.ts'
import { openBenchWorld } from './bench/world.ts'
import { benchX402 } from './bench/x402.ts'

const help = `node scripts/bench.ts [--rounds 10] [--rows 1000000] [--out .local/bench.json]

Starts a world of its own on free ports, measures, prints ratios and writes them as JSON. Takes a
few minutes.

--rounds  how often the arms of each measurement take turns
--rows    rows of the large feed
--out     where the figures are written`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    rounds: { type: 'string', default: '10' },
    rows: { type: 'string', default: '1000000' },
    out: { type: 'string', default: '.local/bench.json' },
  },
})

if (values.help) console.log(help)
else await run(Number(values.rounds), Number(values.rows), values.out)

async function run(rounds: number, rows: number, out: string): Promise<void> {
  const world = await openBenchWorld()
  try {
    const figures = [
      ...(await benchIdentity(world, rounds)),
      ...(await benchX402(world, rounds)),
      ...(await benchTransfer(world, rounds)),
      ...(await benchFeed(world, rounds, rows)),
    ]
    printFigures(figures)
    mkdirSync(dirname(out), { recursive: true })
    writeFileSync(out, `${JSON.stringify({ at: new Date().toISOString(), figures }, null, 2)}\n`)
  } finally {
    await world.stop()
  }
  process.exit(0)
}
