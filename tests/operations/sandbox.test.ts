/** A first purchase needs nobody else: the account buys from the sandbox, and the money is counted on the chain. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { attemptOf, execute, openMarket, pay, prepare, priceAtomic } from '../support/market.ts'
import { anyText, textWith } from '../support/matching.ts'
import {
  headersFor,
  openBuyer,
  openFakeFacilitator,
  openSandbox,
  signTestPayment,
} from '../support/sandbox.ts'

const market = await openMarket()
const sandbox = await openSandbox(market)
const usd = 1_000_000n

test.each([
  ['/sandbox/v2/report', 'x402', 2, 'payment-response'],
  ['/sandbox/v1/report', 'x402', 1, 'x-payment-response'],
  ['/sandbox/mpp/report', 'mpp', 1, 'payment-receipt'],
])('%s is bought through the account for one cent', async (path, protocol, version, receipt) => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await market.usdcOf(sandbox.payTo)

  const prepared = await prepare(agent, { resource_url: `${sandbox.url}${path}?q=1` })
  const paid = await execute(agent, attemptOf(prepared))
  const again = await execute(agent, attemptOf(prepared))

  expect(prepared.body['terms']).toMatchObject({
    protocol,
    version,
    network: 'eip155:84532',
    amount: '0.01',
    pay_to: sandbox.payTo,
  })
  expect(paid.body).toMatchObject({
    status: 'settled',
    tx_hash: anyText,
    response: {
      status: 200,
      headers: { [receipt]: anyText },
      body_json: {
        paid: true,
        method: 'GET',
        query: { q: '1' },
        payment: { payer: agent.address, transaction: paid.body['tx_hash'] },
      },
    },
  })
  expect(again.body).toEqual(paid.body)
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
  expect(await market.usdcOf(sandbox.payTo)).toBe(before + priceAtomic)
})

test.each(['v1', 'v2', 'mpp'])('a body that is sent to %s comes back as its hash', async (name) => {
  const agent = await market.agent('pay', { usdc: 1 })
  const body = '{"question": "what is 🌍?"}'
  const order = { resource_url: `${sandbox.url}/sandbox/${name}/report`, method: 'POST', body }
  const headers = { 'content-type': 'application/json' }

  const paid = await pay(agent, { ...order, headers })

  expect(paid.body).toMatchObject({
    status: 'settled',
    response: {
      body_json: {
        method: 'POST',
        content_type: 'application/json',
        body_bytes: Buffer.byteLength(body),
        body_sha256: createHash('sha256').update(body).digest('hex'),
      },
    },
  })
})

test('its page names what it sells, and how that is bought', async () => {
  const page = await fetch(`${sandbox.url}/sandbox`)

  expect([page.status, await page.json()]).toMatchObject([
    200,
    {
      price: '0.01',
      token: 'USDC',
      networks: ['eip155:84532'],
      reports: ['v2', 'v1', 'mpp'].map((name) => `${sandbox.url}/sandbox/${name}/report`),
      buy: ['aoa demo', textWith('/x402-payment-prepare')],
    },
  ])
})

test.each([
  ['GET', '/sandbox/v3/report', 404],
  ['GET', '/sandboxes', 404],
  ['POST', '/sandbox', 405],
  ['DELETE', '/sandbox/v2/report', 405],
])('%s %s is answered with %i and a sentence', async (method, path, status) => {
  const answer = await fetch(`${sandbox.url}${path}`, { method })

  expect([answer.status, await answer.json()]).toMatchObject([status, { message: anyText }])
})

test('a signature that is sent twice, also elsewhere, costs and buys nothing more', async () => {
  const buyer = await openBuyer(market)
  const payload = await signTestPayment(market, buyer, sandbox.payTo)
  const headers = headersFor(sandbox.payTo, payload)
  const buy = async (path: keyof typeof headers) =>
    (await fetch(`${sandbox.url}${path}`, { headers: headers[path] })).status

  const first = await buy('/sandbox/v2/report')
  const others = [await buy('/sandbox/v2/report'), await buy('/sandbox/v1/report')]

  expect([first, ...others]).toEqual([200, 402, 402])
  expect(await market.usdcOf(buyer.address)).toBe(usd - priceAtomic)
})

test('of the same signature sent twice at once, one buys and the money moves once', async () => {
  const buyer = await openBuyer(market)
  const headers = headersFor(sandbox.payTo, await signTestPayment(market, buyer, sandbox.payTo))
  const buy = async () =>
    (await fetch(`${sandbox.url}/sandbox/v2/report`, { headers: headers['/sandbox/v2/report'] }))
      .status

  const statuses = await Promise.all([buy(), buy()])

  expect(statuses.toSorted()).toEqual([200, 402])
  expect(await market.usdcOf(buyer.address)).toBe(usd - priceAtomic)
})

const away = '0x3478772121755d59A7DB2F33751374693Cbb9136'
test.each([
  ['of less', { value: '9999' }],
  ['of more', { value: '10001' }],
  ['to somebody else', { to: away }],
  ['that has expired', { before: -1 }],
  ['that has not begun', { after: 60 }],
  ['on another network', { accepted: { network: 'eip155:421614' } }],
  ['on a network of real money', { accepted: { network: 'eip155:8453' } }],
  ['that is signed for another network', { chainId: 421614 }],
] as const)('a payment %s is refused with new terms, and nothing moves', async (_, changed) => {
  const buyer = await openBuyer(market)
  const payload = await signTestPayment(market, buyer, sandbox.payTo, changed)
  const accepted = 'accepted' in changed ? changed.accepted : {}
  const named = { ...accepted, ...('network' in accepted && { scheme: 'exact' }) }
  const headers = headersFor(sandbox.payTo, payload, named)

  const answers = await Promise.all(
    Object.entries(headers).map(([path, own]) => fetch(`${sandbox.url}${path}`, { headers: own })),
  )

  expect(answers.map(({ status }) => status)).toEqual([402, 402])
  expect(answers[0]?.headers.get('payment-required')).toEqual(anyText)
  expect(await answers[1]?.json()).toMatchObject({ x402Version: 1, accepts: [{ scheme: 'exact' }] })
  expect(answers.map((one) => one.headers.get('payment-response'))).toEqual([null, null])
  expect(await market.usdcOf(buyer.address)).toBe(usd)
})

test.each([
  ['amount', '1'],
  ['asset', away],
  ['payTo', away],
  ['scheme', 'upto'],
])('terms of version 2 with another %s are not those that were offered', async (name, value) => {
  const buyer = await openBuyer(market)
  const payload = await signTestPayment(market, buyer, sandbox.payTo)
  const headers = headersFor(sandbox.payTo, payload, { [name]: value })['/sandbox/v2/report']

  const answer = await fetch(`${sandbox.url}/sandbox/v2/report`, { headers })

  expect([answer.status, await market.usdcOf(buyer.address)]).toEqual([402, usd])
})

test.each(['not base64 !', 'e30=', Buffer.from('[1]').toString('base64')])(
  'the payment %s is refused without asking the facilitator for more than its networks',
  async (header) => {
    const facilitator = await openFakeFacilitator(market, (_, honest) => honest())
    const { url } = await openSandbox(market, facilitator.url)

    const answers = await Promise.all([
      fetch(`${url}/sandbox/v2/report`, { headers: { 'payment-signature': header } }),
      fetch(`${url}/sandbox/v1/report`, { headers: { 'x-payment': header } }),
      fetch(`${url}/sandbox/mpp/report`, { headers: { authorization: `Payment ${header}` } }),
    ])

    expect(answers.map(({ status }) => status)).toEqual([402, 402, 402])
    expect(new Set(facilitator.asked)).toEqual(new Set(['/supported']))
  },
)

test('a body that is too long is refused before anything is paid', async () => {
  const buyer = await openBuyer(market)
  const payload = await signTestPayment(market, buyer, sandbox.payTo)
  const headers = headersFor(sandbox.payTo, payload)['/sandbox/v2/report']
  const body = 'x'.repeat(65_537)

  const answer = await fetch(`${sandbox.url}/sandbox/v2/report`, { method: 'POST', headers, body })

  expect([answer.status, await market.usdcOf(buyer.address)]).toEqual([413, usd])
})
