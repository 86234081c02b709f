/** An offer that cannot be entered or paid never hides one that can. */
import { Interface } from 'ethers'
import { Challenge } from 'mppx'
import { expect, test } from 'vitest'
import { issuer } from '../../scripts/local/chain/fund.ts'
import { callRpc, transact } from '../../scripts/local/chain/rpc.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { newKey } from '../support/chain-world.ts'
import { answering, serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, pay, prepare } from '../support/market.ts'
import type { Agent } from '../support/world.ts'
import { challengeV2, headerOf, requirementV2 } from '../support/x402.ts'

// One chain is silent: no server listens there.
const market = await openMarket({ rpcUrls: { 'eip155:421614': ['http://127.0.0.1:9'] } })
const { chain, hostile } = market

/** Returns an MPP challenge with a fixed id. */
function mpp(id: string, changes: Record<string, unknown> = {}): string {
  return Challenge.serialize(
    Challenge.from({
      id,
      realm: 'merchant.com',
      method: 'evm',
      intent: 'charge',
      request: {
        amount: '10000',
        currency: chain.usdc,
        recipient: hostile.payTo,
        methodDetails: { chainId: chain.chainId, credentialTypes: ['authorization'] },
      },
      ...changes,
    }),
  )
}

function x402(...accepts: unknown[]) {
  return { 'payment-required': headerOf(challengeV2(accepts)) }
}

/** Starts a merchant that asks with these headers and answers every payment with `status`. */
function merchantThat(asking: () => Record<string, string>, status = 402) {
  return serverThat((response, { headers }) => {
    const isPaid = headers['payment-signature'] ?? headers.authorization
    const code = isPaid === undefined ? 402 : status
    response.writeHead(code, code === 402 ? asking() : {}).end('{}')
  })
}

async function amountPrepared(agent: Agent, resource_url: string): Promise<unknown> {
  return (await prepare(agent, { resource_url })).body['terms']
}

const besideMpp = requirementV2({ amount: '20000', payTo: hostile.payTo })

test.each([
  ['refused', 402],
  ['delivered', 200],
])(
  'a challenge of MPP that was %s once is passed over for the x402 offer beside it',
  async (_, status) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const asking = { 'www-authenticate': mpp('constant'), ...x402(besideMpp) }
    const shop = await merchantThat(() => asking, status)

    const first = await pay(agent, { resource_url: shop.url })
    const second = await amountPrepared(agent, shop.url)

    expect(first.body).toMatchObject({ amount_atomic: '10000' })
    expect(second).toMatchObject({ protocol: 'x402', amount_atomic: '20000' })
  },
)

test('a challenge of MPP that was used is passed over for a fresh one, and alone it is refused', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  let asked = 0
  const shop = await merchantThat(() => {
    asked += 1
    return { 'www-authenticate': `${mpp('used')}, ${mpp(`fresh-${asked}`)}` }
  }, 200)
  const alone = { resource_url: shop.url, www_authenticate: mpp('used') }

  await execute(agent, attemptOf(await prepare(agent, alone)))
  const second = await prepare(agent, { resource_url: shop.url })
  const again = await prepare(agent, alone)

  expect(second.status).toBe(200)
  expect(again).toMatchObject({ status: 422, body: { error: 'invalid_challenge' } })
})

test.each([
  ['before', () => Promise.resolve()],
  ['after', () => runHousekeeping(market.world)],
])(
  'an attempt that ended unsigned is entered anew %s housekeeping closed it',
  async (_, keepHouseOrNot) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const shop = await merchantThat(() => ({ 'www-authenticate': mpp('unpaid') }), 200)

    const first = await prepare(agent, { resource_url: shop.url })
    await market.tick(360)
    await keepHouseOrNot()
    const second = await prepare(agent, { resource_url: shop.url })
    const [old, paid] = [
      await execute(agent, attemptOf(first)),
      await execute(agent, attemptOf(second)),
    ]

    expect(attemptOf(second)).not.toBe(attemptOf(first))
    expect(old).toMatchObject({ status: 409, body: { error: 'payment_closed' } })
    expect(paid.status).toBe(200)
    await market.tick(-360)
  },
)

test('a site that asks under the challenge of another keeps nobody from paying that', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const asks = (id: string, realm: string) =>
    merchantThat(() => ({ 'www-authenticate': mpp(id, { realm }) }), 200)
  const honest = await asks('abc', 'shop.example')
  const split = await asks('ab', 'cshop.example')
  const copied = await asks('abc', 'shop.example')

  const hostiles = [
    await prepare(agent, { resource_url: split.url }),
    await prepare(agent, { resource_url: copied.url }),
  ]
  const paid = await pay(agent, { resource_url: honest.url })
  const after = await prepare(agent, { resource_url: copied.url })

  expect(hostiles.map(({ status }) => status)).toEqual([200, 200])
  expect(paid.status).toBe(200)
  // The honest payment has spent the nonce, whoever presents the challenge now.
  expect(after).toMatchObject({ status: 422, body: { error: 'invalid_challenge' } })
  for (const unpaid of hostiles) {
    const late = await execute(agent, attemptOf(unpaid))
    expect(late).toMatchObject({ status: 409, body: { error: 'payment_closed' } })
  }
  expect(
    [split, copied].flatMap(({ received }) =>
      received.filter(({ headers }) => headers.authorization),
    ),
  ).toEqual([])
})

test('many offers that are barred do not hide the one that can be paid', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const barred = newKey().at
  const blacklist = new Interface(['function blacklist(address)'])
  const data = blacklist.encodeFunctionData('blacklist', [barred])
  await callRpc(chain.rpcUrl, [['anvil_autoImpersonateAccount', true]])
  await transact(chain.rpcUrl, issuer, chain.usdc, `0x${data.slice(2)}`)
  const bad = Array.from({ length: 31 }, (_, at) =>
    requirementV2({ payTo: barred, amount: String(10_000 + at) }),
  )
  const shop = await merchantThat(() => x402(...bad, requirementV2({ amount: '20000' })))

  expect(await amountPrepared(agent, shop.url)).toMatchObject({ amount_atomic: '20000' })
})

test('an offer that pays the own wallet is passed over, and alone it is refused', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const own = { payTo: agent.address }
  const offers = x402(
    requirementV2(own),
    requirementV2({ amount: '20000' }),
    requirementV2({ ...own, amount: '1' }),
  )
  const shop = await merchantThat(() => offers)
  const selfish = await serverThat(answering(402, x402(requirementV2(own))))

  const alone = await prepare(agent, { resource_url: selfish.url })

  expect(await amountPrepared(agent, shop.url)).toMatchObject({ amount_atomic: '20000' })
  expect(alone).toMatchObject({ status: 422, body: { error: 'recipient_refused' } })
})

test('a silent chain comes after one that can pay', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const silent = requirementV2({ amount: '10000' }, 'arbitrum-sepolia')
  const shop = await merchantThat(() => x402(silent, requirementV2({ amount: '10001' })))

  expect(await amountPrepared(agent, shop.url)).toMatchObject({ amount_atomic: '10001' })
})

test.each([400, 401, 403, 404, 406, 409, 422])(
  'after an answer of %i, which is told as unpaid, the next attempt takes another offer',
  async (status) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const upfront = requirementV2({ amount: '20000', extra: { paymentFlow: 'upfront' } })
    const shop = await merchantThat(() => x402(requirementV2(), upfront), status)

    const first = await pay(agent, { resource_url: shop.url })

    expect(first.body).toMatchObject({ status: 'rejected_unpaid', amount_atomic: '10000' })
    expect(await amountPrepared(agent, shop.url)).toMatchObject({ amount_atomic: '20000' })
  },
)

test('offers that differ in payee or amount alone are tried one after the other', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const [one, other] = [newKey().at, newKey().at]
  const accepts = [
    requirementV2({ payTo: one }),
    requirementV2({ payTo: other, amount: '20000' }),
    requirementV2({ payTo: other, amount: '30000' }),
  ]
  const shop = await merchantThat(() => x402(...accepts))

  const paid: unknown[] = []
  for (const _ of accepts) {
    paid.push((await pay(agent, { resource_url: shop.url })).body['amount_atomic'])
  }

  expect(paid).toEqual(['10000', '20000', '30000'])
})

test('settled before the answer is no reason to pay more', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const upfront = requirementV2({ amount: '1000', extra: { paymentFlow: 'upfront' } })
  const shop = await merchantThat(() => x402(requirementV2({ amount: '300000' }), upfront))

  expect(await amountPrepared(agent, shop.url)).toMatchObject({ amount_atomic: '1000' })
})
