/** The page of a key or an app tells what it may pay and has paid, under which mandates and from which devices. */
import { beforeAll, expect, test } from 'vitest'
import { connectApp } from '../support/apps.ts'
import { type Browser, signedIn } from '../support/browserless.ts'
import { askMandate } from '../support/mandates.ts'
import { anew } from '../support/wish.ts'
import { type Agent, fingerprint, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const keysOf = async ({ id }: Agent) => {
  const rows = await world.db.sql<{ id: string }[]>`select id from private.credentials
    where account = ${id} and kind = 'api_key' order by created_at`
  return rows.map((row) => row.id)
}

async function pay(agent: Agent, amount: string) {
  const { alias: recipient } = await world.agent('read')
  const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount, user_confirmed: true }
  const { body } = await agent.post('/wallet-custodial-transfer', anew(order))
  return `/web/payment/${String(body['transfer_id'])}`
}

async function home() {
  const agent = await world.agent('pay', { usdc: 50 })
  return { agent, browser: await signedIn(world, agent) }
}

const cap = (browser: Browser, page: string, caps: object) =>
  browser.visit(page).then(() => browser.submit({ wanted: 'capped', ...caps }, page))

test('a key shows its caps, what is used of them, its payments, mandates and devices', async () => {
  const { agent, browser } = await home()
  const [key = ''] = await keysOf(agent)
  await world.acquaint(agent, agent.address)
  await cap(browser, `/web/keys/${key}`, { each: '5', day: '10' })
  const { id: mandate } = await askMandate(world, agent, { max_total_usd_micros: '80000000' })
  const payment = await pay(agent, '1.25')

  const { html, text } = await browser.visit(`/web/keys/${key}`)
  const listed = await browser.visit('/web/keys')

  expect(text).toContain('1.25 of 10.00 USD')
  expect(text).toContain('5.00 USD each, 10.00 USD a day')
  for (const path of [payment, `/web/mandate/${mandate}`, `/web/activity?agent=${key}`]) {
    expect(html).toContain(`href="${path}"`)
  }
  expect(text).toContain('127.0.0.1 Waiting for you 80.00 USD in all')
  expect(text).toContain(fingerprint.slice(0, 8))
  expect(text.indexOf('Latest payments')).toBeLessThan(text.indexOf('Replace it'))
  expect(listed.text).toMatch(/stored secrets and pay 1\.25 of 10\.00 USD/)
})

test('a key shows what the one that it replaced paid, and nothing of another key', async () => {
  const { agent, browser } = await home()
  const [first = ''] = await keysOf(agent)
  const payment = await pay(agent, '2')
  const { id: mandate } = await askMandate(world, agent)
  await browser.visit(`/web/keys/${first}`)
  await browser.submit({ wanted: 'replaced', overlap: '24' }, `/web/keys/${first}`)
  const [, next = ''] = await keysOf(agent)
  await agent.withKey('full')
  const [, , other = ''] = await keysOf(agent)

  const replaced = await browser.visit(`/web/keys/${next}`)
  const foreign = await browser.visit(`/web/keys/${other}`)

  for (const path of [payment, `/web/mandate/${mandate}`]) {
    expect(replaced.html).toContain(`href="${path}"`)
    expect(foreign.html).not.toContain(`href="${path}"`)
  }
  expect(replaced.text).toContain('Used in the last 24 hours 2.00 USD')
  expect(foreign.text).toContain('It has not paid yet')
})

test('an app shows the same, and one that only looks has nothing to show', async () => {
  const { agent, browser } = await home()
  const { app } = await connectApp(world, agent, { scope: 'pay', each: 5, day: 20 })
  const reader = await connectApp(world, agent, { name: 'Reader' })

  const { text } = await browser.visit(`/web/apps/${app}`)
  const looks = await browser.visit(`/web/apps/${reader.app}`)

  expect(text).toContain('0.00 of 20.00 USD')
  expect(text).toContain('It has not paid yet')
  for (const words of ['has paid', 'Latest payments', 'Trusted devices']) {
    expect(text.includes(words), words).toBe(true)
    expect(looks.text.includes(words), words).toBe(false)
  }
})

test('a device that is forgotten on the page of its key leads back there', async () => {
  const { agent, browser } = await home()
  await world.acquaint(agent, agent.address)
  const [key = ''] = await keysOf(agent)
  const { html } = await browser.visit(`/web/keys/${key}`)
  const [, device = ''] = /name="device" value="([^"]+)"/.exec(html) ?? []

  const shown = await browser.submit({ device }, '/web/recipients')

  expect(shown.path).toBe(`/web/keys/${key}`)
  expect(shown.text).toContain('None yet. You can trust a device')
})
