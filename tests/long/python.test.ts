/**
 * The Python client pays as the typed client does. It needs python3 from 3.11 with httpx and pydantic 2, which are
 * taken from the virtual environment in .local/python if there is one.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { root } from '../../scripts/packages/package.ts'
import { serverThat } from '../support/http.ts'
import { priceAtomic } from '../support/market.ts'
import { openOfficialShop } from '../support/official-shop.ts'
import { booksOf, openParties, openServedMarket, payByClient } from '../support/served-market.ts'
import { userAgent } from '../support/world.ts'

const own = join(root, '.local/python/bin/python3')
const python = existsSync(own) ? own : 'python3'

async function runPython(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], PYTHONPATH: join(root, 'scripts/python') }
  const options = { env: { ...env, PYTHONDONTWRITEBYTECODE: '1' }, timeout: 300_000 }
  const { stdout } = await promisify(execFile)(python, ['-W', 'error', ...args], options)
  return stdout
}

const check = `import sys, httpx, pydantic
assert sys.version_info >= (3, 11) and pydantic.VERSION >= '2'`
await runPython('-c', check).catch((cause: unknown) => {
  const install = 'python3 -m venv .local/python && .local/python/bin/pip install scripts/python'
  const message = `This test needs python3 from 3.11 with httpx and pydantic 2: ${install}`
  throw new Error(message, { cause })
})

test('by the Python client each payment moves once, and the books are those of the typed client', async () => {
  const market = await openServedMarket()
  const { agent, payee, known } = await openParties(market)
  const thrifty = await market.agent('pay', { usdc: 100 })
  const mirror = await openOfficialShop(market, ({ req }) => Response.json(req.header()))
  const redirect = await serverThat((response) =>
    response.writeHead(307, { location: `${mirror.url}/data` }).end(),
  )
  const { baseUrl, merchant } = market
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const otherOrder = { ...order, recipient: known.alias, amount: '0.5' }
  const agents = { apiKey: agent.key, thriftyKey: thrifty.key, deviceId: userAgent }
  const urls = { baseUrl, shop: merchant.v2Url, redirect: redirect.url }

  const program = join(root, 'tests/peers/python/purchases.py')
  const printed = await runPython(
    program,
    JSON.stringify({ ...agents, ...urls, order, otherOrder }),
  )

  const summary = (payTo: string, url: string) =>
    `Pay 0.01 USDC on Base Sepolia to ${payTo} for ${new URL(url).origin}.`
  expect(JSON.parse(printed)).toEqual({
    available: '100',
    transfers: ['awaiting_confirmation', true, 'submitted', 'submitted'],
    keys: [2, 1, 2],
    refusals: [
      ['idempotency_mismatch', 422, true, false],
      ['unauthorized', 401, true, false],
      ['network_error', 0, false, true],
    ],
    refused: [
      402,
      'dry_run',
      'over_max',
      'not_confirmed',
      'not_confirmed',
      '0.25 is not an amount such as "0.25" or Decimal("0.25").',
      'The body of a paid request has to be text in UTF-8.',
    ],
    summaries: [summary(merchant.payTo, merchant.v2Url), summary(mirror.payTo, mirror.url)],
    bought: [200, true],
    seen: { authorization: null, 'proxy-authorization': null, cookie: null, 'x-wanted': 'c' },
    listed: true,
    later: true,
  })
  const usdcOf = ({ address }: { address: string }) => market.usdcOf(address)
  expect(await usdcOf(agent)).toBe(100_000_000n - 5_500_000n - priceAtomic)
  expect(await usdcOf(thrifty)).toBe(100_000_000n - priceAtomic)
  expect([await usdcOf(payee), await usdcOf(known)]).toEqual([5_000_000n, 500_000n])
  expect(await booksOf(market, agent)).toEqual(await booksOf(market, await payByClient(market)))
})
