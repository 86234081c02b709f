import { createHash } from 'node:crypto'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/v1'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { type Address, createPublicClient, erc20Abi, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type Facilitator, startFacilitator } from '../../scripts/local/chain/facilitator.ts'
import {
  type HostileMerchant,
  startHostileMerchant,
} from '../../scripts/local/chain/hostile-merchant.ts'
import { type Merchant, startMerchant } from '../../scripts/local/chain/merchants.ts'
import { type Chain, fund, startChain } from '../../scripts/local/chain.ts'

const usd = 1_000_000n
const priceAtomic = 10_000n

const echoSchema = z.object({
  paid: z.literal(true),
  query: z.record(z.string(), z.string()),
  content_type: z.nullable(z.string()),
  body_sha256: z.string(),
})

let base: Chain
let arbitrum: Chain
let facilitator: Facilitator
let merchant: Merchant
let hostile: HostileMerchant

beforeAll(async () => {
  ;[base, arbitrum] = await Promise.all([
    startChain({ chainId: 84532 }),
    startChain({ chainId: 421614 }),
  ])
  facilitator = await startFacilitator({ chains: [base, arbitrum] })
  merchant = await startMerchant({ facilitatorUrl: facilitator.url, chains: [base, arbitrum] })
  hostile = await startHostileMerchant({ facilitatorUrl: facilitator.url, chains: [base] })
}, 20_000)

afterAll(async () => {
  await Promise.all([merchant?.close(), hostile?.close()])
  await facilitator?.close()
  await Promise.all([base?.stop(), arbitrum?.stop()])
})

test('the official client pays the official merchant and the balances move to the unit', async () => {
  const payer = await startPayer()
  const before = await balanceOf(base, merchant.payTo)

  const response = await payer.fetch(merchant.v2Url)

  expect(response.status).toBe(200)
  const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  expect(receipt).toMatchObject({ success: true, network: 'eip155:84532', payer: payer.address })
  expect(await balanceOf(base, payer.address)).toBe(usd - priceAtomic)
  expect(await balanceOf(base, merchant.payTo)).toBe(before + priceAtomic)
})

test('query string, body bytes and content type survive the paid request', async () => {
  const payer = await startPayer()
  const body = Buffer.from([0, 1, 2, 250, 255, 10, 13])

  const report = await payer.fetch(`${merchant.url}/v2/report?x=a%26b&y=%C3%A9`)
  const posted = await payer.fetch(merchant.v2Url, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  })

  expect(echoSchema.parse(await report.json()).query).toEqual({ x: 'a&b', y: 'é' })
  expect(echoSchema.parse(await posted.json())).toMatchObject({
    content_type: 'application/octet-stream',
    body_sha256: createHash('sha256').update(body).digest('hex'),
  })
  expect(await balanceOf(base, payer.address)).toBe(usd - 2n * priceAtomic)
})

test('the official version 1 scheme pays the version 1 routes, with GET and with POST', async () => {
  const payer = await startPayer()

  const got = await payer.fetch(`${merchant.v1Url}?x=1`)
  const posted = await payer.fetch(merchant.v1Url, { method: 'POST', body: 'hello' })

  expect(echoSchema.parse(await got.json()).query).toEqual({ x: '1' })
  expect(echoSchema.parse(await posted.json()).body_sha256).toBe(
    createHash('sha256').update('hello').digest('hex'),
  )
  const receipt = decodePaymentResponseHeader(got.headers.get('x-payment-response') ?? '')
  expect(receipt).toMatchObject({ success: true, network: 'base-sepolia' })
  expect(await balanceOf(base, payer.address)).toBe(usd - 2n * priceAtomic)
})

test('an offer of several chains is settled on the chain that the payer chose', async () => {
  const payer = await startPayer([arbitrum])

  const response = await payer.fetch(`${merchant.url}/v2/multi`)

  expect(response.status).toBe(200)
  expect(await balanceOf(arbitrum, payer.address)).toBe(usd - priceAtomic)
  expect(await balanceOf(base, payer.address)).toBe(usd)
})

test('payments that arrive together all settle', async () => {
  const payers = await Promise.all(Array.from({ length: 6 }, () => startPayer()))

  const responses = await Promise.all(payers.map((payer) => payer.fetch(merchant.v2Url)))

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
})

test('a signed payment moves money once, however often it is sent', async () => {
  const payer = await startPayer()
  const headers = await payer.capture(merchant.v1Url)

  const statuses = []
  for (let round = 0; round < 2; round++) {
    statuses.push((await fetch(merchant.v1Url, { headers })).status)
  }

  expect(statuses).toEqual([200, 402])
  expect(await balanceOf(base, payer.address)).toBe(usd - priceAtomic)
})

test('a payer without funds gets 402 and nothing moves', async () => {
  const payer = await startPayer([base], 1n)

  const responses = await Promise.all([payer.fetch(merchant.v1Url), payer.fetch(merchant.v2Url)])

  expect(responses.map(({ status }) => status)).toEqual([402, 402])
  expect(await balanceOf(base, payer.address)).toBe(1n)
})

test('a page that is free answers without a payment', async () => {
  const response = await fetch(`${merchant.url}/free`)

  expect(await response.json()).toEqual({ free: true })
})

test('what the hostile merchant answers says nothing of whether money moved', async () => {
  const payer = await startPayer()
  const status = async (path: string) => (await payer.fetch(hostile.url + path)).status

  const unsettled = [await status('/paid/ok'), await status('/paid/false-hash')]
  const untouched = await balanceOf(base, payer.address)
  const settled = await status('/settled/status-500')
  await expect(payer.fetch(`${hostile.url}/settled/close-socket`)).rejects.toThrow()

  expect([unsettled, settled]).toEqual([[200, 200], 500])
  expect(untouched).toBe(usd)
  expect(await balanceOf(base, payer.address)).toBe(usd - 2n * priceAtomic)
  expect(hostile.received('/settled/status-500')).toHaveLength(1)
  expect(hostile.requests('/settled/status-500')).toHaveLength(2)
})

test('payments to the tolerable challenges of the hostile merchant settle', async () => {
  const payer = await startPayer()

  const statuses = []
  for (const lie of ['honest', 'honest-v1', 'ten-years', 'prompt-injection']) {
    statuses.push((await payer.fetch(`${hostile.url}/terms/${lie}`)).status)
  }

  expect(statuses).toEqual([200, 200, 200, 200])
  expect(await balanceOf(base, payer.address)).toBe(usd - 4n * priceAtomic)
})

test('price and payee of the hostile merchant change with each challenge', async () => {
  const ask = async (lie: string) => {
    const { headers } = await fetch(`${hostile.url}/terms/${lie}`)
    return decodePaymentRequiredHeader(headers.get('payment-required') ?? '').accepts[0]
  }

  const prices = [await ask('rising-price'), await ask('rising-price')]
  const payees = [await ask('moving-pay-to'), await ask('moving-pay-to')]

  expect(prices.map((offer) => offer?.amount)).toEqual(['10000', '20000'])
  expect(payees[0]?.payTo).not.toBe(payees[1]?.payTo)
})

test('a client that follows redirects shows its payment to another origin', async () => {
  const payer = await startPayer()

  await payer.fetch(`${hostile.url}/paid/redirect-elsewhere`)

  expect(hostile.received('/elsewhere/paid/redirect-elsewhere')).toHaveLength(1)
})

test.each([
  ['gzip-bomb', 64 * 1024 * 1024],
  ['huge-body', 50 * 1024 * 1024],
])('the answer %s is as large as announced once it is unpacked', async (name, bytes) => {
  const response = await fetch(`${hostile.url}/unpaid/${name}`)

  expect((await response.arrayBuffer()).byteLength).toBe(bytes)
})

test('every hostile path asks for payment first, except those that misbehave at once', async () => {
  const atOnce = (path: string) => path.startsWith('/unpaid/')
  const asking = hostile.paths.filter((path) => !atOnce(path))

  const statuses = await Promise.all(asking.map((path) => statusOf(hostile.url + path)))

  expect(asking.length).toBeGreaterThan(60)
  expect(asking.filter((_, index) => statuses[index] !== 402)).toEqual([])
  expect(hostile.paths.filter(atOnce)).toHaveLength(18)
})

test('an answer given at once is the one that its path names', async () => {
  const names = ['status-500', 'redirect-self', 'redirect-elsewhere', 'dribble', 'challenge-again']

  const statuses = await Promise.all(names.map((name) => statusOf(`${hostile.url}/unpaid/${name}`)))

  expect(statuses).toEqual([500, 307, 307, 402, 402])
  expect(await statusOf(`${hostile.url}/unheard-of`)).toBe(404)
  await expect(statusOf(`${hostile.url}/unpaid/close-socket`)).rejects.toThrow('fetch failed')
  await expect(
    fetch(`${hostile.url}/unpaid/never-answers`, { signal: AbortSignal.timeout(200) }),
  ).rejects.toThrow('timeout')
})

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url, { redirect: 'manual' })
  await response.body?.cancel()
  return response.status
}

/** Funds a new account on both chains and lets the official client pay on the given ones. */
async function startPayer(chains: readonly Chain[] = [base], usdcAtomic = usd) {
  const account = privateKeyToAccount(generatePrivateKey())
  await Promise.all([base, arbitrum].map((chain) => fund(chain, account.address, { usdcAtomic })))
  const client = new x402Client()
  for (const { network } of chains) client.register(network, new ExactEvmScheme(account))
  client.registerV1('base-sepolia', new ExactEvmSchemeV1(account))
  const capture = async (url: string) => {
    let sent = new Headers()
    const recorder: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      if (!request.headers.has('x-payment')) return await fetch(request)
      sent = request.headers
      return new Response('{}')
    }
    await wrapFetchWithPayment(recorder, client)(url)
    return sent
  }
  return { address: account.address, fetch: wrapFetchWithPayment(fetch, client), capture }
}

function balanceOf({ rpcUrl, usdc }: Chain, owner: Address): Promise<bigint> {
  const client = createPublicClient({ transport: http(rpcUrl) })
  return client.readContract({
    address: usdc,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner],
  })
}
