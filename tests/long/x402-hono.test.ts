/**
 * The original x402-hono package can be paid. It needs 470 MB, so only this long test installs it, into
 * a directory that is deleted afterwards.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spawnTethered } from '../../scripts/local/process/tethered.ts'
import { type Market, openMarket, pay, priceAtomic } from '../support/market.ts'

const installTimeoutMilliseconds = 300_000
const startTimeoutMilliseconds = 60_000

let market: Market
let url: string
beforeAll(async () => {
  market = await openMarket()
  const directory = mkdtempSync(join(tmpdir(), 'aoa-x402-hono-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  cpSync(fileURLToPath(new URL('../peers/x402-v1', import.meta.url)), directory, {
    recursive: true,
  })
  await promisify(execFile)('npm', ['ci', '--ignore-scripts'], {
    cwd: directory,
    timeout: installTimeoutMilliseconds,
  })
  const place = [`FACILITATOR_URL=${market.facilitator.url}`, `PAY_TO=${market.merchant.payTo}`]
  const server = spawnTethered('env', [...place, process.execPath, join(directory, 'server.ts')])
  afterAll(() => server.stop())
  const [, found = ''] = await server.waitForOutput(/"url":"([^"]+)"/, startTimeoutMilliseconds)
  url = found
}, installTimeoutMilliseconds + startTimeoutMilliseconds)

test.each([
  ['GET', {}],
  ['POST', { body: '{"asked":"ü"}', headers: { 'content-type': 'application/json' } }],
])('a %s to a merchant on x402-hono is paid to the unit', async (method, request) => {
  const agent = await market.agent('pay', { usdc: 5 })
  const before = await market.usdcOf(market.merchant.payTo)

  const paid = await pay(agent, { resource_url: `${url}/v1/paid`, method, ...request })

  expect(paid).toMatchObject({ status: 200, body: { status: 'settled' } })
  expect((await market.usdcOf(market.merchant.payTo)) - before).toBe(priceAtomic)
  expect(await market.usdcOf(agent.address)).toBe(5_000_000n - priceAtomic)
})
