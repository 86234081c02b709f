/** Compares `aoa balance` with the least program that asks the same: time from the start of a process to its end. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildCli } from '../packages/package.ts'
import { type Figure, median } from './report.ts'
import type { BenchWorld } from './world.ts'

const least = `
const { AOA_BASE_URL: base, AOA_API_KEY: key } = process.env
const headers = { authorization: \`Bearer \${key}\`, 'content-type': 'application/json' }
const answer = await fetch(\`\${base}/get-wallet-balances\`, { method: 'POST', headers, body: '{}' })
console.log(await answer.json())
`

/** Runs both in turn, five times a round, after one run of each that does not count. */
export async function benchCommandLine(world: BenchWorld, rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'aoa-bench-'))
  try {
    await buildCli(folder)
    const bare = join(folder, 'bare.mjs')
    writeFileSync(bare, least)
    const { key } = await world.payer()
    const env = { HOME: folder, AOA_BASE_URL: world.url, AOA_API_KEY: key }
    const run = async (words: string[]) => {
      const began = performance.now()
      await promisify(execFile)(process.execPath, words, { env })
      return performance.now() - began
    }
    const arms = [[join(folder, 'aoa.js'), 'balance'], [bare]]
    for (const arm of arms) await run(arm)
    const times: number[][] = arms.map(() => [])
    for (let turn = 0; turn < 5 * rounds; turn += 1) {
      for (const [at, arm] of arms.entries()) times[at]?.push(await run(arm))
    }
    const [ours = Number.NaN, bareTime = Number.NaN] = times.map(median)
    const detail = { 'milliseconds of aoa balance': ours, 'milliseconds of the script': bareTime }
    return [{ name: 'aoa balance over a bare fetch', value: ours / bareTime, target: 1.5, detail }]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
