/** The fetch of the client pays what answers 402 once, within a maximum, and hands over what was bought. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Account, createClient, PaymentError } from '../../scripts/client/index.ts'
import { functionsIn } from '../support/functions.ts'
import { serverThat } from '../support/http.ts'
import { openMarket } from '../support/market.ts'
import { openOfficialShop } from '../support/official-shop.ts'
import { userAgent } from '../support/world.ts'

const market = await openMarket()
const functions = functionsIn(market.world)
const baseUrl = 'https://account.example'

/** Routes calls of the account to its functions, and everything else to the network. */
async function route(url: string, init: RequestInit): Promise<Response> {
  if (!url.startsWith(`${baseUrl}/`)) return fetch(url, init)
  const found = functions.get(new URL(url).pathname.slice(1))
  if (!found) throw new Error(`no function is at ${url}`)
  return found.fetch(new Request(url, init))
}

async function buyer(usdc = 1): Promise<{ account: Account; spent: () => Promise<bigint> }> {
  const agent = await market.agent('pay', { usdc })
  const before = await market.usdcOf(agent.address)
  const account = createClient({ baseUrl, apiKey: agent.key, deviceId: userAgent, fetch: route })
  return { account, spent: async () => before - (await market.usdcOf(agent.address)) }
}

const yes = () => true
const { v1Url, v2Url } = market.merchant

test.each([
  ['1', v1Url],
  ['2', v2Url],
])(
  'what x402 version %s asks for is paid once, and the answer is that of the merchant',
  async (_, url) => {
    const { account, spent } = await buyer()

    const answer = await account.fetch(url, { maxUsd: '0.01', confirm: yes })

    expect(answer.status).toBe(200)
    expect(await answer.json()).toBeTypeOf('object')
    expect(await spent()).toBe(10_000n)
  },
)

test('more than the maximum, a no, and a dry run pay nothing and say why', async () => {
  const { account, spent } = await buyer()
  const problemOf = (init: Parameters<Account['fetch']>[1]) =>
    account.fetch(v2Url, init).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof PaymentError ? error.problem : error),
    )

  const problems = [
    await problemOf({ maxUsd: '0.009999', confirm: yes }),
    await problemOf({ maxUsd: '1', confirm: () => false }),
    await problemOf({ maxUsd: '1' }),
    await problemOf({ isDryRun: true }),
    await problemOf({}),
  ]

  expect(problems).toEqual(['over_max', 'not_confirmed', 'not_confirmed', 'dry_run', 402])
  expect(await spent()).toBe(0n)
})

test('a redirect is followed to what costs something, for GET alone', async () => {
  const { account, spent } = await buyer()
  const shop = await serverThat((response) => response.writeHead(307, { location: v2Url }).end())
  const options = { maxUsd: '0.01', confirm: yes }

  const posted = await account.fetch(shop.url, { ...options, method: 'POST', body: 'a=1' })
  const spentAtFirst = await spent()
  const read = await account.fetch(shop.url, options)

  expect([posted.status, spentAtFirst, read.status]).toEqual([402, 0n, 200])
  expect(await spent()).toBe(10_000n)
})

test('a purchase at another origin, after a redirect, has no secret of the first', async () => {
  const { account } = await buyer()
  const shop = await openOfficialShop(market, ({ req }) => Response.json(req.header()))
  const first = await serverThat((response) =>
    response.writeHead(307, { location: `${shop.url}/data` }).end(),
  )
  const headers = { authorization: 'Bearer a', cookie: 'a=b', 'x-wanted': 'c' }

  const answer = await account.fetch(first.url, { maxUsd: '0.01', confirm: yes, headers })

  const had = z.record(z.string(), z.string()).parse(await answer.json())
  expect([had['x-wanted'], had['authorization'], had['cookie']]).toEqual([
    'c',
    undefined,
    undefined,
  ])
})

test('a body that is not text is sent as it is, and pays for nothing', async () => {
  const { account, spent } = await buyer()
  const shop = await serverThat((response) => response.end('free'))
  const init = { maxUsd: '1', confirm: yes, method: 'POST', body: new Uint8Array([0xff, 0xfe]) }

  const free = await account.fetch(shop.url, init)

  expect(free.status).toBe(200)
  expect(shop.received[0]?.body).toEqual(Buffer.from([0xff, 0xfe]))
  await expect(account.fetch(v2Url, init)).rejects.toThrow('text in UTF-8')
  expect(await spent()).toBe(0n)
})

test('a payment whose answer was lost names its attempt, which pays once', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await market.usdcOf(agent.address)
  const losing = async (url: string, init: RequestInit) => {
    const answer = await route(url, init)
    return url.endsWith('/x402-payment-execute') ? Response.error() : answer
  }
  const options = { baseUrl, apiKey: agent.key, deviceId: userAgent, repetitionsMax: 0 }
  const buying = createClient({ ...options, fetch: losing }).fetch(v2Url, {
    maxUsd: '1',
    confirm: yes,
  })

  const lost = await buying.catch((error: unknown) => error)
  const attempt_id = lost instanceof PaymentError ? lost.attemptId : ''
  const again = createClient({ ...options, fetch: route })
  const { status } = await again.x402PaymentExecute({ attempt_id, user_confirmed: true })

  expect([lost, status]).toEqual([
    expect.objectContaining({ problem: 'outcome_unknown' }),
    'settled',
  ])
  expect(before - (await market.usdcOf(agent.address))).toBe(10_000n)
})

test('the user is asked with sentence, price and, where only the owner may agree, the page', async () => {
  const { account } = await buyer()
  const seen: unknown[] = []

  await account
    .fetch(v2Url, {
      maxUsd: '1',
      confirm: ({ summary, amountUsd, url }) => {
        seen.push([summary, amountUsd, url])
        return false
      },
    })
    .catch(() => undefined)

  expect(seen).toEqual([[expect.stringContaining('0.01'), '0.01', undefined]])
})

test('what is not answered 402 is passed on as it is', async () => {
  const { account, spent } = await buyer()

  const { status } = await account.fetch(new URL('/nothing-here', v2Url), {
    maxUsd: '1',
    confirm: yes,
  })

  expect([status, await spent()]).toEqual([404, 0n])
})
