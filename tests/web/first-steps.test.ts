/** A new owner is led through the first steps and gets configurations that connect an agent. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type Browser, signedIn } from '../support/browserless.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
})

async function home(): Promise<{ agent: Agent; browser: Browser }> {
  const agent = await world.agent('pay')
  return { agent, browser: await signedIn(world, agent) }
}

const copied = (html: string) =>
  [...html.matchAll(/<pre data-copy="([^"]*)"/g)].map(([, text = '']) =>
    text.replaceAll('&quot;', '"'),
  )

test('the overview lists what is left to do, until it is done or hidden', async () => {
  const { agent, browser } = await home()

  const fresh = await browser.visit('/web')
  await agent.get('/get-identity')
  await browser.visit('/web/limits')
  await browser.submit({ usd_automatic_daily: '100' }, '/web/limits')
  const later = await browser.visit('/web')
  const hidden = await browser.submit({}, '/web/first-steps')
  const other = await (await signedIn(world, await world.agent('pay'))).visit('/web')

  for (const step of ['Add money', 'Connect your agent', 'Add a passkey', 'Set your limits']) {
    expect(fresh.text).toContain(step)
  }
  expect(fresh.text).not.toContain('(done)')
  expect(later.text).toContain('Connect your agent (done)')
  expect(later.text).toContain('Set your limits (done)')
  expect(hidden.text).not.toContain('First steps')
  expect(other.text).toContain('First steps')
})

const servers = z.record(z.string(), z.looseObject({ headers: z.unknown().optional() }))

test('the configurations name the address, and the key once one is made', async () => {
  const { browser } = await home()

  const signingIn = copied((await browser.visit('/web/connect')).html)
  await browser.visit('/web/keys')
  const made = copied((await browser.submit({ label: 'Research', scope: 'pay' })).html)

  const { BASE_URL } = world.world.config
  const [key = ''] = made
  expect(key).toMatch(/^aoa_test_/)
  const withKey = made.slice(1, -1)
  expect(signingIn).toHaveLength(6)
  expect(withKey).toHaveLength(5)
  for (const text of [...signingIn, ...withKey]) expect(text).toContain(`${BASE_URL}/mcp`)
  for (const text of signingIn) expect(text).not.toMatch(/authorization/i)
  for (const text of withKey) expect(text).toContain(`Bearer ${key}`)
  for (const text of [...signingIn, ...withKey].filter((one) => one.startsWith('{'))) {
    const [named] = Object.values(z.record(z.string(), servers).parse(JSON.parse(text)))
    expect(Object.keys(named ?? {})).toEqual(['account'])
  }
})

test('the form suggests caps for the first key of an account, and none for a later one', async () => {
  const { agent, browser } = await home()

  const later = await browser.visit('/web/keys')
  await world.db
    .sql`delete from private.credentials where account = ${agent.id} and kind = 'api_key'`
  const first = await browser.visit('/web/keys')

  expect(first.html).toMatch(/name="each"[^>]*value="50"/)
  expect(first.html).toMatch(/name="day"[^>]*value="200"/)
  expect(later.html).toMatch(/name="each"[^>]*value=""/)
})
