/** `aoa demo` makes a first purchase by itself, within one cent, and says what happened. */
import { expect, test } from 'vitest'
import { run } from '../../scripts/cli/run.ts'
import { functionsIn } from '../support/functions.ts'
import { openMarket, priceAtomic } from '../support/market.ts'
import { textWith } from '../support/matching.ts'
import { openSandbox, type Sandbox } from '../support/sandbox.ts'
import { type Agent, userAgent } from '../support/world.ts'

const market = await openMarket()
const functions = functionsIn(market.world)
const usd = 1_000_000n

/** Runs the program; operations reach the functions, and everything else the sandbox. */
async function aoa({ key }: Agent, { url }: Pick<Sandbox, 'url'>, ...words: string[]) {
  const out: string[] = []
  const errors: string[] = []
  const code = await run(['demo', ...words], {
    env: { HOME: '/nowhere', AOA_API_KEY: key, AOA_BASE_URL: url, AOA_DEVICE_ID: userAgent },
    fetch: (input, init) => {
      const request = new Request(input, init)
      const found = functions.get(new URL(request.url).pathname.slice(1))
      return found ? Promise.resolve(found.fetch(request)) : fetch(request)
    },
    now: Date.now,
    pause: () => Promise.resolve(),
    signal: new AbortController().signal,
    screen: {
      isJson: false,
      isInteractive: false,
      show: (_, lines) => out.push(lines()),
      say: (line) => errors.push(line),
      write: () => Promise.resolve(),
      confirm: () => Promise.resolve(false),
    },
  })
  return { code, out: out.join('\n'), errors: errors.join('\n') }
}

test('it buys the report for one cent, and tells the steps in ten lines', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const sandbox = await openSandbox(market)

  const { code, out } = await aoa(agent, sandbox, '--yes')

  expect(code).toBe(0)
  expect(out.split('\n').length).toBeLessThanOrEqual(10)
  expect(out).toMatch(/^challenge +402 /m)
  expect(out).toMatch(/^terms +0\.01 USDC on eip155:84532$/m)
  expect(out).toMatch(/^payment +settled$/m)
  expect(out).toMatch(/^transaction +0x[0-9a-f]{64}$/m)
  expect(out).toMatch(/^bought +You bought this report/m)
  expect(out).toMatch(/^activity +\S/m)
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
  expect(await market.usdcOf(sandbox.payTo)).toBe(priceAtomic)
})

test('without a yes it pays nothing', async () => {
  const agent = await market.agent('pay', { usdc: 1 })

  const { code, errors } = await aoa(agent, await openSandbox(market))

  expect([code, errors]).toEqual([4, textWith('0.01 USDC')])
  expect(await market.usdcOf(agent.address)).toBe(usd)
})

test('a service without a sandbox is told in its own words', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const none = await openSandbox(market, undefined, { SANDBOX_PAY_TO: '' })

  const { code, errors } = await aoa(agent, none, '--yes')

  expect([code, errors]).toEqual([1, textWith('has no sandbox')])
  expect(await market.usdcOf(agent.address)).toBe(usd)
})
