/** The owner sees, narrows and ends connected apps, without script. */
import { beforeAll, expect, test } from 'vitest'
import {
  askingPath,
  connectApp,
  goesTo,
  redeemCode,
  registerApp,
  shownIn,
} from '../support/apps.ts'
import { ownForm } from '../support/browserless.ts'
import { feedOf } from '../support/owner.ts'
import { openPerson, openPersonAtHome } from '../support/person.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

const home = () => openPersonAtHome(world)

const statusWith = async (token: string) =>
  (await world.send('/get-identity', { headers: { authorization: `Bearer ${token}` } })).status

const capsOf = (app: string) => world.db.sql`select max_per_payment_usd_micros::text as each,
  max_per_day_usd_micros::text as day from private.credentials where id = ${app}`

test('an account without apps says how one comes to be here', async () => {
  const { text } = await (await home()).browser.visit('/web/apps')

  expect(text).toContain('An app that can connect sends you here')
  expect(text).not.toContain('Disconnect all')
})

test('each app is listed with its host, what it may, its caps and its end', async () => {
  const { person, browser } = await home()
  await connectApp(world, person.agent, { scope: 'pay', each: 12.5, day: 40 })
  await connectApp(world, person.agent, { name: 'Reader <i>', host: 'reader.example' })

  const { text, html } = await browser.visit('/web/apps')

  expect(text).toMatch(
    /Research desk app\.example View, use stored secrets and pay 12\.50 USD each/,
  )
  expect(text).toContain('40.00 USD a day')
  expect(html).toContain('Reader &lt;i&gt;')
  expect(text).toMatch(/reader\.example View only Never/)
})

test('an app that is disconnected is refused at its next call, and stays listed as over', async () => {
  const { person, browser } = await home()
  const { app, token } = await connectApp(world, person.agent)
  const other = await connectApp(world, person.agent)
  const page = `/web/apps/${app}`
  const before = await statusWith(token)
  await browser.visit(page)

  const unsure = await browser.submit({ wanted: 'disconnected' }, page)
  const kept = await statusWith(token)
  const listed = await browser.submit({ wanted: 'disconnected', sure: 'yes' }, page)

  expect([unsure.status, unsure.html]).toEqual([
    400,
    expect.stringMatching(/for good<span class="error">Nothing has changed/),
  ])
  expect([before, kept, await statusWith(token), await statusWith(other.token)]).toEqual([
    200, 200, 401, 200,
  ])
  expect([listed.path, listed.text]).toEqual([
    '/web/apps',
    expect.stringContaining('You disconnected it'),
  ])
  expect((await browser.visit(page)).status).toBe(404)
  expect(await feedOf(world.db, person.agent)).toEqual(['app_disconnected'])
})

test('all apps are disconnected at once; keys, and apps of others, are not', async () => {
  const { person, browser } = await home()
  const stranger = await openPerson(world)
  const foreign = await connectApp(world, stranger.agent)
  const apps = await Promise.all([1, 2].map(() => connectApp(world, person.agent)))
  await browser.visit('/web/apps')

  await browser.submit({ wanted: 'none' }, '/web/apps')

  const ended = await Promise.all(apps.map(({ token }) => statusWith(token)))
  expect(ended).toEqual([401, 401])
  expect([await statusWith(foreign.token), await statusWith(person.agent.key)]).toEqual([200, 200])
})

test('a code that an app holds when all are disconnected is spent', async () => {
  const { person, browser } = await home()
  const path = askingPath(await registerApp(world))
  await browser.visit(path)
  await browser.submit({ decision: 'allowed' }, path)
  await Promise.all([1, 2].map(() => connectApp(world, person.agent)))
  await browser.visit('/web/apps')

  await browser.submit({ wanted: 'none' }, '/web/apps')

  const codes = await world.db.sql`select used_at is not null as spent from private.oauth_codes
    where account = ${person.agent.id}`
  expect(codes).toEqual([{ spent: true }])
})

test('two clicks on Allow connect one app, and the owner is told', async () => {
  const { person, browser } = await home()
  const client = await registerApp(world)
  const path = askingPath(client)
  const tokens: string[] = []
  const { html } = await browser.visit(path)

  // The second click is sent before the first answer arrives, and the app redeems both codes.
  const form = ownForm(browser)
  const yes = {
    account: person.agent.id,
    shown: shownIn(html),
    decision: 'allowed',
    level: 'read',
    days: '7',
  }
  const body = () => new URLSearchParams({ form, ...yes })
  const click = () =>
    browser.send(path, { method: 'POST', body: body(), headers: { origin: 'http://localhost' } })
  for (const { headers } of await Promise.all([click(), click()])) {
    tokens.push(await redeemCode(world, client, goesTo({ headers })))
  }

  expect(await Promise.all(tokens.map(statusWith))).toEqual([401, 200])
  const { html: listed } = await browser.visit('/web/apps')
  expect(listed.match(/href="\/web\/apps\/[0-9a-f-]{36}"/g)).toHaveLength(1)
  const told = (await world.mails(person.email)).map(({ subject }) => subject)
  expect(told).toContain('An app was given access to your account')
})

test('what an app asks for is told with where it is, and its name stands alone', async () => {
  const { person, browser } = await home()
  const name = 'A” was checked by us. “B'
  const { token } = await connectApp(world, person.agent, { name, scope: 'pay' })
  const order = { merchant_domain: 'shop.example', max_amount_per_payment_usd: '5' }
  const { body } = await world.send('/payment-mandate-create', {
    method: 'POST',
    body: JSON.stringify({ ...order, ttl_seconds: 3600 }),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })

  const { text } = await browser.visit(`/web/mandate/${String(body['mandate_id'])}`)

  expect(text).toContain('The app at app.example asked just now')
  expect(text).toContain(`Requested by The app at app.example It calls itself ${name} Device`)
})

test("a stranger's app is not to be seen, narrowed or ended", async () => {
  const stranger = await openPerson(world)
  const { app, token } = await connectApp(world, stranger.agent, { scope: 'pay' })
  const { browser } = await home()
  const page = `/web/apps/${app}`

  const seen = await browser.visit(page)
  const form = ownForm(browser)
  for (const given of [
    { wanted: 'disconnected', sure: 'yes' },
    { wanted: 'capped', each: '0', day: '0' },
  ]) {
    const body = new URLSearchParams({ form, ...given })
    const headers = { origin: 'http://localhost' }
    expect((await browser.send(page, { method: 'POST', body, headers })).status).toBe(404)
  }

  expect(seen.status).toBe(404)
  expect(await statusWith(token)).toBe(200)
  expect(await capsOf(app)).toEqual([{ each: '200000000', day: '200000000' }])
})

test('a cap is lowered at once, and raised after a proof', async () => {
  const { person, browser } = await home()
  const { app } = await connectApp(world, person.agent, { scope: 'pay' })
  const page = `/web/apps/${app}`
  const save = async (each: string, day: string) => {
    await browser.visit(page)
    return browser.submit({ wanted: 'capped', each, day }, page)
  }
  await world.tick(601)

  await save('10', '20')
  const lowered = await capsOf(app)
  const asked = await save('11', '20')
  const refused = await capsOf(app)
  const shown = await browser.submit({ password: person.password }, '/web/proof')
  await browser.submit({ wanted: 'capped' }, page)

  expect(lowered).toEqual([{ each: '10000000', day: '20000000' }])
  expect(asked.path).toBe(`/web/proof?next=${encodeURIComponent(page)}`)
  expect(refused).toEqual(lowered)
  expect(shown.html).toMatch(/name="each"[^>]*value="11"/)
  expect(await capsOf(app)).toEqual([{ each: '11000000', day: '20000000' }])
  const told = (await world.mails(person.email)).map(({ subject }) => subject)
  expect(told).toContain('Your limits were raised')
})

test('a cap that is no amount is told where it was typed, and changes nothing', async () => {
  const { person, browser } = await home()
  const { app } = await connectApp(world, person.agent, { scope: 'pay' })
  const page = `/web/apps/${app}`
  await browser.visit(page)

  const shown = await browser.submit({ wanted: 'capped', each: 'many', day: '20' }, page)

  expect(shown.status).toBe(400)
  expect(shown.html).toContain('id="field-each-error">Enter a cap')
  expect(shown.html).toContain('value="many"')
  expect(await capsOf(app)).toEqual([{ each: '200000000', day: '200000000' }])
})

test('an app that may only look is let pay after a proof, within caps, and is lowered at once', async () => {
  const { person, browser } = await home()
  const { app, token } = await connectApp(world, person.agent)
  const page = `/web/apps/${app}`
  const scopes = async () => {
    const rows = await world.db.sql<{ scopes: string[] }[]>`
      select scopes from private.credentials where id = ${app}`
    return rows.flatMap((row) => row.scopes)
  }
  const save = async (level: string, caps = {}) => {
    await browser.visit(page)
    return browser.submit({ wanted: 'levelled', level, ...caps }, page)
  }
  await world.tick(601)

  const asked = await save('pay', { each: '11', day: '20' })
  const refused = await scopes()
  await browser.submit({ password: person.password }, '/web/proof')
  await browser.submit({ wanted: 'levelled' }, page)
  const [raised, caps] = [await scopes(), await capsOf(app)]
  await world.db.sql`update private.access_tokens set scopes = '{pay}' where granted = ${app}`
  const before = await statusWith(token)
  await world.tick(601)
  await save('read')

  expect(asked.path).toBe(`/web/proof?next=${encodeURIComponent(page)}`)
  expect([refused, raised, await scopes()]).toEqual([['read'], ['pay'], ['read']])
  expect(caps).toEqual([{ each: '11000000', day: '20000000' }])
  expect([before, await statusWith(token)]).toEqual([200, 401])
  const told = (await world.mails(person.email)).filter(
    ({ subject }) => subject.includes('raised') || subject.includes('do more'),
  )
  expect(told.map(({ subject }) => subject)).toEqual(['An app can now do more in your account'])
  expect(told[0]?.text).toMatch(/Per payment: 11 USD\s+In 24 hours: 20 USD/)
  expect(await feedOf(world.db, person.agent)).toEqual(
    expect.arrayContaining(['app_scopes_raised', 'app_scopes_lowered']),
  )
})

test('an app is not let pay without caps that are amounts, nor in a frozen account', async () => {
  const { person, browser } = await home()
  const { app } = await connectApp(world, person.agent)
  const page = `/web/apps/${app}`
  await browser.visit(page)

  const odd = await browser.submit(
    { wanted: 'levelled', level: 'pay', each: 'many', day: '1' },
    page,
  )
  const none = await browser.submit({ wanted: 'levelled', level: 'owner' }, page)
  await person.agent.post('/account-freeze', {})
  const frozen = await browser.submit(
    { wanted: 'levelled', level: 'pay', each: '1', day: '1' },
    page,
  )

  expect([odd.status, none.status, frozen.status]).toEqual([400, 400, 403])
  const rows = await world.db.sql`select scopes from private.credentials where id = ${app}`
  expect(rows).toEqual([{ scopes: ['read'] }])
})
