/** Commands of the program over the functions: what they send, what they pay, and what they write. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { run } from '../../scripts/cli/run.ts'
import { functionsIn } from '../support/functions.ts'
import { serverThat } from '../support/http.ts'
import { openMarket } from '../support/market.ts'
import { approveAsked, entryOf } from '../support/vault-rows.ts'
import { type Agent, userAgent } from '../support/world.ts'

const market = await openMarket()
const functions = functionsIn(market.world)
const baseUrl = 'https://account.example'
const folder = mkdtempSync(join(tmpdir(), 'aoa-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the program as an agent; requests to the account reach its functions. */
async function aoa({ key }: Agent, ...words: string[]): Promise<number> {
  return run(words, {
    env: { HOME: folder, AOA_API_KEY: key, AOA_BASE_URL: baseUrl, AOA_DEVICE_ID: userAgent },
    fetch: (input, init) => {
      const request = new Request(input, init)
      const { origin, pathname } = new URL(request.url)
      const found = origin === baseUrl ? functions.get(pathname.slice(1)) : undefined
      return found ? Promise.resolve(found.fetch(request)) : fetch(request)
    },
    now: Date.now,
    pause: () => Promise.resolve(),
    signal: new AbortController().signal,
  })
}

test('what was written for curl is sent as curl sends it, and paid for once within the maximum', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await market.usdcOf(agent.address)
  const file = join(folder, 'answer')
  const words = ['--', '-sS', '-L', market.merchant.v2Url, '-i', '-o', file]

  const refused = await aoa(agent, 'curl', '--yes', '--max-usd', '0.001', ...words)
  const spentAtFirst = before - (await market.usdcOf(agent.address))
  const done = await aoa(agent, 'curl', '--yes', '--max-usd', '0.01', ...words)

  expect([refused, spentAtFirst, done]).toEqual([5, 0n, 0])
  expect(before - (await market.usdcOf(agent.address))).toBe(10_000n)
  const [head = '', body = ''] = readFileSync(file, 'utf8').split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 200/)
  expect(JSON.parse(body)).toBeTypeOf('object')
})

test.each([
  [
    ['--data-raw', 'a=1', '-d', 'b=2', '-u', 'me:secret', '-A', 'agent'],
    ['POST', 'a=1&b=2', 'application/x-www-form-urlencoded', 'Basic bWU6c2VjcmV0', 'agent'],
  ],
  [
    ['-X', 'PUT', '--json', '{"q": 1', '--json', '}', '-H', 'User-Agent: mine'],
    ['PUT', '{"q": 1}', 'application/json', undefined, 'mine'],
  ],
])('words of curl %j mean what they mean there', async (words, expected) => {
  const agent = await market.agent('read')
  const shop = await serverThat((response) => response.end('fine'))

  const code = await aoa(agent, 'curl', '--', ...words, '-o', join(folder, 'out'), shop.url)

  const [{ method, body, headers } = { method: '', body: '', headers: {} as never }] = shop.received
  expect(code).toBe(0)
  expect([
    method,
    body.toString(),
    headers['content-type'],
    headers['authorization'],
    headers['user-agent'],
  ]).toEqual(expected)
})

test('a file that cannot be written buys nothing, and one that is there stays where nothing is bought', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await market.usdcOf(agent.address)
  const kept = join(folder, 'kept')
  writeFileSync(kept, 'mine')
  const url = market.merchant.v2Url

  const missing = aoa(agent, 'curl', '--yes', '--', '-o', join(folder, 'none/there'), url)
  const dear = aoa(agent, 'curl', '--yes', '--max-usd', '0.001', '--', '-o', kept, url)

  expect([await missing, await dear]).toEqual([1, 5])
  expect(readFileSync(kept, 'utf8')).toBe('mine')
  expect(await market.usdcOf(agent.address)).toBe(before)
})

test('a word that is not known is no request', async () => {
  const agent = await market.agent('pay')
  const shop = await serverThat((response) => response.end('fine'))

  expect(await aoa(agent, 'curl', '--', '--proxy', 'http://a', shop.url)).toBe(2)
  expect(shop.received).toEqual([])
})

test('a secret goes to its place once the owner approved that', async () => {
  const agent = await market.agent('vault')
  const shop = await serverThat((response) => response.end('three orders'))
  const site = new URL(shop.url).origin
  const token = 'canary-tok-4711'
  const id = await entryOf(market, agent, { site, password: 'unused', fields: { token } })
  const words = ['vault', 'use', id, 'get', '/orders', '--secret', 'header:X-Key=fields.token']
  const asked = await aoa(agent, ...words)
  await approveAsked(market, id)

  const code = await aoa(agent, ...words)

  expect([asked, code]).toEqual([4, 0])
  expect(shop.received.map(({ headers }) => headers['x-key'])).toEqual([token])
})
