/** The owner freezes, and manages limits, API keys, recipients and devices, without script. */
import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../support/browserless.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const known = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

let world: TestWorld
beforeAll(async () => {
  world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
})

async function home(): Promise<{ agent: Agent; browser: Browser }> {
  const agent = await world.agent('pay')
  return { agent, browser: await signedIn(world, agent) }
}

/** Returns the key that a page shows once. */
function keyOn(html: string): string {
  return /data-copy="(aoa_test_[0-9A-Za-z]+)"/.exec(html)?.[1] ?? ''
}

const statusWith = async (key: string) =>
  (await world.send('/get-identity', { headers: { authorization: `Bearer ${key}` } })).status

test('the switch freezes at once and unfreezes after a proof', async () => {
  const { agent, browser } = await home()
  await browser.visit('/web/freeze')

  const frozen = await browser.submit()
  expect(frozen.text).toContain('Everything is stopped')
  expect((await agent.get('/get-identity')).body).toMatchObject({ frozen: true })

  await world.tick(11 * 60)
  await browser.visit('/web/freeze')
  const asked = await browser.submit({ wanted: 'unfrozen' }, '/web/freeze')
  expect(asked.path).toBe('/web/proof?next=%2Fweb%2Ffreeze')

  const proven = await signedIn(world, agent)
  await proven.visit('/web/freeze')
  await proven.submit({ wanted: 'unfrozen' }, '/web/freeze')
  expect((await agent.get('/get-identity')).body).toMatchObject({ frozen: false })
})

test('the form of one freeze does not lift a later one, and tells of it', async () => {
  const { agent, browser } = await home()
  await agent.post('/account-freeze', { reason: 'a first one' })
  await browser.visit('/web/freeze')
  const other = await signedIn(world, agent)
  await other.visit('/web/freeze')
  await other.submit({ wanted: 'unfrozen' }, '/web/freeze')
  await world.tick(5)
  await agent.post('/account-freeze', { reason: 'this key has leaked' })

  const late = await browser.submit({ wanted: 'unfrozen' }, '/web/freeze')
  const { body } = await agent.get('/get-identity')
  const seen = await browser.submit({ wanted: 'unfrozen' }, '/web/freeze')

  expect([late.status, late.text]).toEqual([409, expect.stringContaining('It was frozen again')])
  expect(body).toMatchObject({ frozen: true })
  expect(seen.text).toContain('Freeze the account')
  expect((await agent.get('/get-identity')).body).toMatchObject({ frozen: false })
})

test('a limit is changed on its page, and what is no amount is told where it was typed', async () => {
  const { agent, browser } = await home()
  const set = async (usd: string) => {
    await browser.visit('/web/limits')
    return browser.submit({ usd_automatic_daily: usd }, '/web/limits')
  }

  for (const wrong of ['-1', '1e3', 'many', '1000000.01', '0.0000001']) {
    const { status, text, html } = await set(wrong)
    expect(status).toBe(400)
    expect(text).toContain('Enter an amount from 0 to 1,000,000')
    expect(html).toContain(`value="${wrong}"`)
  }
  const changed = await set('12.50')

  expect(changed.text).toContain('Saved. Without asking: 200.00 to 12.50 USD.')
  const limitUsd = async () => (await agent.get('/get-identity')).body
  expect(await limitUsd()).toMatchObject({ limits: { automatic_daily: { limit_usd: '12.5' } } })

  const undone = await browser.submit({}, '/web/limits')
  expect(undone.text).toContain('Saved. Without asking: 12.50 to 200.00 USD.')
  expect(await limitUsd()).toMatchObject({ limits: { automatic_daily: { limit_usd: '200' } } })
})

test('several limits are saved at once, none of them above the cap that would stop it', async () => {
  const { agent, browser } = await home()
  await browser.visit('/web/limits')
  const both = { usd_automatic_daily: '$1,500', usd_asserted_daily: '300' }

  const above = await browser.submit(both, '/web/limits')
  const raised = await browser.submit({ ...both, usd_daily_spending_cap: '2,000' }, '/web/limits')

  expect([above.status, raised.status]).toEqual([400, 200])
  expect(above.text).toContain('stops everything at 1,000.00 USD. Raise that too.')
  expect(above.html).toContain('value="$1,500"')
  expect((await agent.get('/get-identity')).body).toMatchObject({
    limits: {
      automatic_daily: { limit_usd: '1500' },
      asserted_daily: { limit_usd: '300' },
      daily_spending_cap: { limit_usd: '2000' },
    },
  })
})

test('the worst case of each key is told in words and figures', async () => {
  const { agent, browser } = await home()
  await world.acquaint(agent, known)

  const { text } = await browser.visit('/web/limits')

  expect(text).toContain('In an hour In a day In a week')
  expect(text).toMatch(/pay \(aoa_test_….{4}\) 400\.00 USD 400\.00 USD 2,800\.00 USD/)
})

test('a key is made, shown once, replaced and revoked', async () => {
  const { browser } = await home()
  await browser.visit('/web/keys')

  const made = await browser.submit({ label: 'shop <i>', scope: 'read', days: '30' })
  const key = keyOn(made.html)
  expect(await statusWith(key)).toBe(200)
  expect(made.text).toContain(`AOA_API_KEY=${key} AOA_BASE_URL=`)

  const listed = await browser.visit('/web/keys')
  expect(listed.html).not.toContain(key)
  expect(listed.html).toContain('shop &lt;i&gt;')
  const [, page = ''] = /href="(\/web\/keys\/[0-9a-f-]{36})"/.exec(listed.html) ?? []
  await browser.visit(page)
  const replaced = await browser.submit({ wanted: 'replaced', overlap: '24' }, page)
  const next = keyOn(replaced.html)
  expect([await statusWith(key), await statusWith(next)]).toEqual([200, 200])

  await browser.visit(page)
  const unsure = await browser.submit({ wanted: 'revoked' }, page)
  expect(unsure.html).toMatch(/for good<span class="error">Nothing has changed/)
  expect(await statusWith(key)).toBe(200)
  await browser.submit({ wanted: 'revoked', sure: 'yes' }, page)
  expect([await statusWith(key), await statusWith(next)]).toEqual([401, 200])
  expect((await browser.visit(page)).status).toBe(404)
})

test('what a key may do is told in full where it is chosen, in the words used for apps', async () => {
  const { text } = await (await home()).browser.visit('/web/keys')

  expect(text).toContain('View only Balances, activity, limits and emails of the account.')
  expect(text).toContain('View, use stored secrets and pay Pays and sends emails in your name')
})

test('a key is made with caps, which its page shows and changes; an empty field is no cap', async () => {
  const { browser } = await home()
  await browser.visit('/web/keys')
  const made = await browser.submit({ label: 'shop', scope: 'pay', days: '30', each: '2.50' })
  const headers = { authorization: `Bearer ${keyOn(made.html)}` }
  const capsNow = async () => (await world.send('/get-identity', { headers })).body['credential']
  const first = await capsNow()

  const { html } = await browser.visit('/web/keys')
  const [page = ''] = /\/web\/keys\/[0-9a-f-]{36}/.exec(html) ?? []
  await browser.visit(page)
  const wrong = await browser.submit({ wanted: 'capped', each: '2.50', day: 'many' }, page)
  await browser.visit(page)
  const shown = await browser.submit({ wanted: 'capped', each: '', day: '10' }, page)

  expect(first).toMatchObject({ caps: { max_per_payment_usd: '2.5', max_per_day_usd: null } })
  expect(wrong.status).toBe(400)
  expect(wrong.html).toContain('id="field-day-error">Enter a cap')
  expect(wrong.html).not.toContain('id="field-each-error"')
  expect(wrong.html).toMatch(/name="day"[^>]* value="many"/)
  expect(shown.text).toContain('0.00 of 10.00 USD')
  expect(await capsNow()).toMatchObject({
    caps: { max_per_payment_usd: null, max_per_day_usd: '10', left_today_usd: '10' },
  })
})

test.each([
  [{ label: '', scope: 'pay' }, 'field-label-error'],
  [{ label: 'x'.repeat(65), scope: 'pay' }, 'field-label-error'],
  [{ label: 'shop', scope: 'owner' }, 'notice danger'],
  [{ label: 'shop', scope: 'pay', day: '-1' }, 'field-day-error'],
])('no key is made of %o, which is told at its field', async (order, told) => {
  const { agent, browser } = await home()
  await browser.visit('/web/keys')

  const { status, html } = await browser.submit(order)

  expect([status, html.includes(told)]).toEqual([400, true])
  expect(html).toContain(`name="label" type="text"`)
  expect(html).toContain(`value="${order.label}"`)

  const keys = await world.db.sql`select from private.credentials
    where account = ${agent.id} and kind = 'api_key'`
  expect(keys).toHaveLength(1)
})

test('a recipient is looked up, shown in full, added and removed', async () => {
  const { agent, browser } = await home()
  const friend = await world.agent('read')

  const shown = await browser.visit(`/web/recipients/add?recipient=${friend.alias}`)
  expect(shown.html).toContain(`data-copy="${friend.address}"`)
  const added = await browser.submit()
  expect(added.text).toContain(friend.alias)
  const again = await browser.visit(`/web/recipients/add/${friend.address}`)
  expect(again.text).toContain('You already trust this recipient')

  await browser.visit('/web/recipients')
  const kept = await browser.submit({ address: friend.address }, '/web/recipients')
  const sure = { address: friend.address, sure: 'yes' }
  const removed = await browser.submit(sure, '/web/recipients')
  expect(kept.html).toContain(friend.address)
  expect(removed.text).toContain('None yet. Add a recipient')
  expect(removed.text).not.toContain(agent.alias.concat('x'))
})

test.each([
  ['a mistyped address', known.replace('C8', 'c8'), 400],
  ['nobody', 'nobody-here', 404],
  ['the zero address', `0x${'0'.repeat(40)}`, 422],
])('%s is not added', async (_, recipient, status) => {
  const { browser } = await home()

  const shown = await browser.visit(`/web/recipients/add?recipient=${recipient}`)

  expect(shown.status).toBe(status)
  expect(shown.html).not.toContain('Add it')
  expect(shown.html).toContain('id="field-recipient-error"')
  expect(shown.html).toMatch(new RegExp(`name="recipient"[^>]* value="${recipient}"`))
})

test('a device is shown with its key and removed', async () => {
  const { agent, browser } = await home()
  await world.acquaint(agent, known)
  const shown = await browser.visit('/web/recipients')
  const [, device = ''] = /name="device" value="([^"]+)"/.exec(shown.html) ?? []

  const removed = await browser.submit({ device }, '/web/recipients')

  expect(removed.text).toContain('None yet')
})
