/** An owner writes a mandate for an agent; once approved it pays for that agent within its bounds, and for nobody else. */
import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../support/browserless.ts'
import { askMandate } from '../support/mandates.ts'
import { attemptOf, execute, type Market, openMarket, prepare } from '../support/market.ts'
import { openPersonAtHome } from '../support/person.ts'
import { openShop } from '../support/shop.ts'
import { anew } from '../support/wish.ts'
import type { Agent } from '../support/world.ts'

const page = '/web/mandates/new'
let market: Market
beforeAll(async () => {
  market = await openMarket()
})

const keyOf = async ({ id }: Agent) => {
  const [row] = await market.db.sql<{ id: string }[]>`select id from private.credentials
    where account = ${id} and kind = 'api_key' order by created_at limit 1`
  return row?.id ?? ''
}

/** Returns an agent that pays from a device that its owner knows. */
async function home() {
  const agent = await market.agent('pay', { usdc: 200 })
  const other = await agent.withKey('pay')
  await market.acquaint(agent, (await market.agent('read')).address)
  return { agent, other, key: await keyOf(agent), browser: await signedIn(market, agent) }
}

async function enter(browser: Browser, key: string, terms: Record<string, string>) {
  await browser.visit(`${page}?agent=${key}`)
  return browser.submit({ agent: key, ...terms })
}

async function approved(browser: Browser, key: string, terms: Record<string, string>) {
  const { path } = await enter(browser, key, terms)
  return browser.submit({ decision: 'approved' }, path)
}

async function pay(agent: Agent, recipient: string, amount: string) {
  const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount }
  return (await agent.post('/wallet-custodial-transfer', anew(order))).body
}

const paid = { consent_level: 'mandate' }
const asked = { status: 'awaiting_confirmation' }

test('it pays the recipient for its agent up to its bounds, and nothing else', async () => {
  const { agent, other, key, browser } = await home()
  const { alias, address } = await market.agent('read')
  const stranger = (await home()).agent
  const active = await approved(browser, key, { payee: alias, each: '20', total: '$50' })

  expect(active.text).toContain('This mandate is active')
  expect(active.text).toContain('from devices that you trust')
  expect(await pay(agent, alias, '20.01')).toMatchObject(asked)
  expect(await pay(agent, (await market.agent('read')).alias, '20')).toMatchObject(asked)
  expect(await pay(other, alias, '20')).toMatchObject(asked)
  expect(await pay(stranger, alias, '20')).toMatchObject(asked)
  expect(await pay(agent, alias, '20')).toMatchObject(paid)
  expect(await pay(agent, address, '20')).toMatchObject(paid)
  expect(await pay(agent, alias, '20')).toMatchObject(asked)
})

test('it pays from no device that the owner does not know', async () => {
  const agent = await market.agent('pay', { usdc: 50 })
  const browser = await signedIn(market, agent)
  const { alias } = await market.agent('read')

  await approved(browser, await keyOf(agent), { payee: alias, each: '20' })

  expect(await pay(agent, alias, '5')).toMatchObject(asked)
})

test('it buys from the merchant whose host was typed, for its agent alone', async () => {
  const shop = await openShop(market)
  const { agent, other, key, browser } = await home()
  const buy = { resource_url: `${shop.url}/data` }
  await approved(browser, key, { payee: new URL(shop.url).host, each: '1', day: '2' })

  const foreign = await prepare(other, buy)
  const bought = await execute(agent, attemptOf(await prepare(agent, buy)), false)

  expect(foreign.body).not.toHaveProperty('covered_by')
  expect(bought.body).toMatchObject({ status: 'settled', ...paid })
})

test('it waits for the owner with the terms that were typed, made for this agent', async () => {
  const { agent, key, browser } = await home()
  const form = await browser.visit(`${page}?agent=${key}`)
  const terms = { payee: 'shop.example', each: '5', day: '20', days: '7' }

  const { path, text } = await enter(browser, key, terms)
  const { alias } = await market.agent('read')
  const pinned = await enter(browser, key, { payee: alias, each: '5' })

  expect(form.html).toContain(`value="${key}" selected`)
  expect(path).toMatch(/^\/web\/mandate\/[0-9a-f-]{36}$/)
  expect(text).toMatch(/to shop\.example(?! and)/)
  expect(text).toContain('At most 5 USD each and 20 USD a day, until')
  expect(text).toContain('You created it for The key')
  expect(text).not.toContain('New device')
  expect(pinned.text).toContain('Subdomains None')
  expect((await agent.get('/payment-mandate-status')).body).toMatchObject({
    mandates: [{ status: 'pending_approval' }, { status: 'pending_approval' }],
  })
})

test.each([
  [{ payee: 'shop.exmaple' }, 'payee', 'Hosts of this name are on no public network.'],
  [{ payee: 'https://shop.example/pay' }, 'payee', 'Here that is shop.example.'],
  [{ payee: 'nobody-has-this' }, 'payee', 'account'],
  [{ payee: `0x${'0'.repeat(40)}` }, 'payee', ''],
  [{ payee: '' }, 'payee', 'Name the host of the merchant'],
  [{ each: '0' }, 'each', 'Enter an amount above 0'],
  [{ each: '' }, 'each', 'Enter an amount above 0'],
  [{ day: 'many' }, 'day', 'Enter an amount above 0'],
  [{ total: '4.99' }, 'total', 'Enter at least the limit for each payment'],
])(
  'with %o the form tells at its field what is wrong, and keeps the rest',
  async (wrong, field, words) => {
    const { agent, key, browser } = await home()
    const terms = { payee: 'shop.example', each: '5', day: '7', ...wrong }

    const { status, html } = await enter(browser, key, terms)

    expect(status).toBe(400)
    expect(html).toMatch(new RegExp(`id="field-${field}-error">[^<]*${words}`))
    for (const value of [terms.payee, terms.each, terms.day])
      expect(html).toContain(`value="${value}"`)
    expect(html.match(/class="error"/g)).toHaveLength(1)
    expect((await agent.get('/payment-mandate-status')).body).toMatchObject({ mandates: [] })
  },
)

test("it is made for no key of another account, none that only looks, and not for one's own wallet", async () => {
  const { agent, key, browser } = await home()
  const reader = await market.agent('read')
  const foreign = await keyOf(await market.agent('pay'))
  const terms = { payee: 'shop.example', each: '5' }

  for (const one of [foreign, await keyOf(reader), 'none']) {
    const { status, text } = await enter(browser, one, terms)
    expect([status, text]).toEqual([400, expect.stringContaining('Choose one of your keys')])
  }
  const own = await enter(browser, key, { ...terms, payee: agent.alias })

  expect(own.html).toContain('id="field-payee-error">This is your own wallet.')
  expect((await agent.get('/payment-mandate-status')).body).toMatchObject({ mandates: [] })
})

test('no more than 20 wait for the owner, whoever made them', async () => {
  const { agent, key, browser } = await home()
  for (let nth = 0; nth < 20; nth += 1) await askMandate(market, agent)

  const { status, text } = await enter(browser, key, { payee: 'shop.example', each: '5' })

  expect([status, text]).toEqual([400, expect.stringContaining('20 mandates are waiting for you')])
})

test('it takes a fresh proof, after which what was typed is there again', async () => {
  const { person, browser } = await openPersonAtHome(market)
  await market.tick(601)

  const proof = await enter(browser, await keyOf(person.agent), {
    payee: 'shop.example',
    each: '5',
  })
  const again = await browser.submit({ password: person.password }, '/web/proof')

  expect(proof.path).toBe(`/web/proof?next=${encodeURIComponent(page)}`)
  expect(again.html).toMatch(/name="payee"[^>]*value="shop.example"/)
})
