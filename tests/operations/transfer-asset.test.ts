/** A transfer may leave out chain and token where only one of them can be meant. */
import { beforeAll, expect, test } from 'vitest'
import { usdcOf } from '../support/ledger.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
let world: TestWorld
let wider: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
  wider = await start({ chain: true, rpcUrls: { 'eip155:421614': ['http://127.0.0.1:9/'] } })
})

test('a transfer without chain and token pays with the only token that the wallet holds', async () => {
  const payer = await world.agent('pay', { usdc: 10 })
  const payee = await world.agent('read')

  const order = { recipient: payee.alias, amount: '5', user_confirmed: true }
  const sent = await payer.post(path, order)

  expect(sent.body).toMatchObject({ status: 'submitted', chain: 'eip155:84532', token: 'USDC' })
  expect(await usdcOf(world, payee)).toBe(5_000_000n)
})

test('chain and token are asked for, with the choices, where the wallet may hold several', async () => {
  const payer = await wider.agent('pay', { usdc: 10 })
  const payee = await wider.agent('read')
  const order = { recipient: payee.alias, amount: '5', user_confirmed: true }

  const refused = await payer.post(path, order)
  const named = await payer.post(path, { ...order, chain: 'Base Sepolia' })

  expect(refused).toMatchObject({
    status: 400,
    body: {
      error: 'invalid_request',
      message:
        'Name chain and token; several are possible: USDC on Base Sepolia, USDC on Arbitrum Sepolia.',
      details: {
        choices: [
          { chain: 'eip155:84532', token: 'USDC' },
          { chain: 'eip155:421614', token: 'USDC' },
        ],
      },
    },
  })
  expect(named.body).toMatchObject({ status: 'submitted', chain: 'eip155:84532', token: 'USDC' })
})

test('no chain is asked where both are named, and a key that may not pay causes no request', async () => {
  let requests = 0
  const worker = wider.worker({
    fetch: (input, init) => {
      const url = input instanceof Request ? input.url : String(input)
      requests += url.startsWith(wider.chain.rpcUrl) ? 1 : 0
      return fetch(input, init)
    },
  })
  const payer = await wider.agent('pay', { usdc: 1 })
  const reader = await wider.agent('read')
  const order = { recipient: 'nobody', amount: '0' }

  const named = await worker.post(payer, path, { ...order, chain: 'base-sepolia', token: 'USDC' })
  const refused = await worker.post(reader, path, order)
  const before = requests
  await worker.post(payer, path, order)

  expect([named.status, refused.status]).toEqual([400, 403])
  expect([before, requests]).toEqual([0, 1])
})
