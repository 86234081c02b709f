/** A mandate pays nothing on the word of a stranger: neither an agent's nor that of a changed merchant. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { permit2Address } from '../../shared/chains/evm/rpc/places.ts'
import { failedRules, giveMandate, type MandateOrder } from '../support/mandates.ts'
import { attemptOf, execute, type Market, openMarket, prepare } from '../support/market.ts'
import { allow, placeProxies } from '../support/permit2.ts'
import { openShop, type Shop } from '../support/shop.ts'
import type { Agent, Answer } from '../support/world.ts'

const otherPayee = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const otherToken = '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await openShop(market)
  await placeProxies(market.chain)
  await callRpc(market.chain.rpcUrl, [
    ['anvil_setCode', permit2Address, '0x00'],
    ['anvil_autoImpersonateAccount', true],
  ])
})
beforeEach(() => {
  shop.asks = {}
  shop.names = undefined
})

async function shopping(order: MandateOrder = {}) {
  const agent = await market.agent('pay', { usdc: 10 })
  return { agent, ...(await giveMandate(market, agent, order)) }
}

function ask(agent: Agent, challenge: object = {}, path = '/data'): Promise<Answer> {
  return prepare(agent, { resource_url: `${shop.url}${path}`, ...challenge })
}

/** Prepares and pays at once, without anybody's confirmation. */
async function buy(agent: Agent): Promise<Answer> {
  return execute(agent, attemptOf(await ask(agent)), false)
}

describe('a challenge that an agent brings', () => {
  test('is paid under a mandate once the service has heard it from the merchant', async () => {
    const { agent, id } = await shopping()
    const before = shop.asked

    const prepared = await ask(agent, shop.challenge())
    const paid = await execute(agent, attemptOf(prepared), false)

    expect(prepared.body).toMatchObject({ reasons: [], covered_by: { mandate_id: id } })
    expect(shop.asked).toBe(before + 1)
    expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'mandate' })
  })

  test.each([
    ['payee', { payTo: otherPayee }],
    ['amount', { amount: '9999' }],
    ['way to pay', { scheme: 'upto', extra: { facilitatorAddress: otherPayee } }],
  ])('with another %s than the merchant asks for waits for a word', async (_, forged) => {
    const { agent, id } = await shopping()
    await allow(market.chain, agent.address, 10_000_000n)
    shop.asks = forged
    const challenge = shop.challenge()
    shop.asks = {}

    const { status, body } = await ask(agent, challenge)

    expect({ status, body }).toMatchObject({ status: 200, body: { requires_user_confirm: true } })
    expect(failedRules(body, id)).toMatchObject([{ code: 'challenge_not_heard' }])
  })

  test('that hides which resource the merchant names waits for a word', async () => {
    const { agent, id } = await shopping()
    const challenge = shop.challenge()
    shop.names = 'https://elsewhere.example.com/data'

    const { body } = await ask(agent, challenge)

    expect(failedRules(body, id)).toMatchObject([{ code: 'challenge_not_heard' }])
  })

  test('of a merchant that does not answer waits for a word', async () => {
    const { agent, id } = await shopping()

    const { body } = await prepare(agent, {
      resource_url: 'http://127.0.0.1:9/data',
      ...shop.challenge(),
    })

    expect(failedRules(body, id)).toMatchObject([
      { code: 'challenge_not_heard' },
      { code: 'other_resource' },
    ])
  })

  test('is asked for again only where a mandate would carry it', async () => {
    const [without, suspended] = [await market.agent('pay', { usdc: 1 }), await shopping()]
    const { agent, owner, id: mandate } = suspended
    await owner.call('owner_suspend_mandate', { mandate, suspended: true })
    const before = shop.asked

    await ask(without, shop.challenge())
    await ask(agent, shop.challenge())

    expect(shop.asked).toBe(before)
  })

  test('needs no merchant where the mandate names the payee', async () => {
    const { agent, id } = await shopping({ pay_to: [shop.payTo] })
    const before = shop.asked

    const { body } = await ask(agent, shop.challenge())

    expect(body).toMatchObject({ covered_by: { mandate_id: id } })
    expect(shop.asked).toBe(before)
  })
})

describe('a challenge that names a resource on another host', () => {
  beforeEach(() => {
    shop.names = 'https://elsewhere.example.com/data'
  })

  test('is never paid under a mandate', async () => {
    const { agent, id } = await shopping({ pay_to: [shop.payTo] })

    const { body } = await ask(agent)

    expect(failedRules(body, id)).toMatchObject([{ code: 'other_resource' }])
    expect(body).toMatchObject({ requires_user_confirm: true })
  })

  test('is not paid automatically, and is paid once the user confirmed', async () => {
    const agent = await market.agent('pay', { usdc: 1 })
    await market.acquaint(agent, shop.payTo)

    const prepared = await ask(agent)
    const paid = await execute(agent, attemptOf(prepared), true)

    expect(prepared.body).toMatchObject({
      reasons: [{ code: 'other_resource' }],
      confirmation: { level: 'agent_asserted' },
    })
    expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'agent_asserted' })
  })

  test('by the name that version 1 has for it is seen too', async () => {
    const { agent, id } = await shopping()
    shop.names = undefined
    shop.asks = { resource: 'https://elsewhere.example.com/data' }

    expect(failedRules((await ask(agent)).body, id)).toMatchObject([{ code: 'other_resource' }])
  })
})

describe('a resource that was paid before', () => {
  test.each([
    ['asks for its money elsewhere', { payTo: otherPayee }, ['changed_payee']],
    ['costs a little more', { amount: '25000' }, []],
    ['costs thirty times as much', { amount: '300000' }, []],
    ['costs less than half as much', { amount: '4000' }, []],
  ])('and now %s', async (_, asks, codes) => {
    const { agent, id } = await shopping()
    expect((await buy(agent)).body).toMatchObject({ status: 'settled' })
    shop.asks = asks

    const { body } = await ask(agent)

    expect(failedRules(body, id).map(({ code }) => code)).toEqual(codes)
    expect(body).toMatchObject({ requires_user_confirm: codes.length > 0 })
  })

  test('and now is cheaper is paid with nobody asked, without a mandate too', async () => {
    const agent = await market.agent('pay', { usdc: 1 })
    await market.acquaint(agent, shop.payTo)
    await buy(agent)
    shop.asks = { amount: '1' }

    expect((await ask(agent)).body).toMatchObject({ requires_user_confirm: false })
  })

  test('in another token is asked about', async () => {
    const { agent, id } = await shopping()
    await buy(agent)
    await market.db
      .sql`update private.payments set token = ${otherToken} where account = ${agent.id}`

    expect(failedRules((await ask(agent)).body, id)).toMatchObject([{ code: 'changed_asset' }])
  })

  test('may be paid elsewhere where the mandate says so', async () => {
    const { agent } = await shopping()
    await buy(agent)
    const both = await giveMandate(market, agent, { pay_to: [shop.payTo, otherPayee] })
    shop.asks = { payTo: otherPayee }

    expect((await ask(agent)).body).toMatchObject({ covered_by: { mandate_id: both.id } })
  })

  test('is remembered by its path, whatever is asked of it', async () => {
    const { agent, id } = await shopping()
    await buy(agent)
    shop.asks = { payTo: otherPayee }

    const [sameResource, another] = [
      await ask(agent, {}, '/data?q=2'),
      await ask(agent, {}, '/more'),
    ]

    expect(failedRules(sameResource.body, id)).toMatchObject([{ code: 'changed_payee' }])
    expect(another.body).toMatchObject({ covered_by: { mandate_id: id } })
  })

  test('is asked about within the automatic limit too, and the word of the user carries it', async () => {
    const agent = await market.agent('pay', { usdc: 1 })
    await market.acquaint(agent, shop.payTo)
    expect((await buy(agent)).body).toMatchObject({ consent_level: 'none' })
    shop.asks = { amount: '30000' }

    const prepared = await ask(agent)
    const paid = await execute(agent, attemptOf(prepared), true)

    expect(prepared.body).toMatchObject({ reasons: [{ code: 'unusual_price' }] })
    expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'agent_asserted' })
    expect((await ask(agent)).body).toMatchObject({ requires_user_confirm: false })
  })
})
