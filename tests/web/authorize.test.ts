/** The owner sees exactly what an app asks, and only their consent gives it that or less. */
import { beforeAll, expect, test } from 'vitest'
import {
  askingPath,
  describeApp,
  goesTo,
  redirectUri,
  registerApp,
  shownIn,
} from '../support/apps.ts'
import { type Browser, openBrowser, ownForm } from '../support/browserless.ts'
import { feedOf } from '../support/owner.ts'
import { openPersonAtHome, type Person } from '../support/person.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let client: string
beforeAll(async () => {
  world = await start()
  client = await registerApp(world)
})

const home = () => openPersonAtHome(world)

/** Returns the permissions of each code issued for this account. */
function codesOf({ agent }: Person) {
  return world.db.sql`select scopes, days, max_per_payment_usd_micros::text as each,
    max_per_day_usd_micros::text as day from private.oauth_codes where account = ${agent.id}`
}

const yes = { decision: 'allowed' }
const submitTo = (browser: Browser, path: string, form: Record<string, string>) =>
  browser.submit(form, path)

test('who is not signed in signs in first, and comes back to the whole of what was asked', async () => {
  const path = askingPath(client)

  const browser = openBrowser(world)
  const answer = await browser.send(path)
  const login = `/web/login?next=${encodeURIComponent(path)}`

  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toBe(login)
  expect((await browser.visit(login)).text).toContain('An app asks for access to your account.')
  expect((await browser.visit('/web/login')).text).not.toContain('An app asks')
})

test.each([
  ['an app that nobody registered', { client_id: 'aoa_c_unknown' }],
  ['no app', { client_id: undefined }],
  ['an address that the app did not name', { redirect_uri: 'https://evil.example/back' }],
  ['an address below the one that the app named', { redirect_uri: `${redirectUri}/more` }],
  ['no address', { redirect_uri: undefined }],
])('%s is refused in words, and the browser is sent nowhere', async (_, differs) => {
  const { browser } = await home()

  const shown = await browser.visit(askingPath(client, differs))

  expect(shown.status).toBe(400)
  expect(shown.text).toContain('This app cannot be connected')
  expect(shown.headers.get('refresh')).toBeNull()
  expect(shown.html).not.toMatch(/href="https?:|evil\.example/)
})

test('what the app asked wrongly it is told when the owner goes on, who is sent nowhere', async () => {
  const { browser } = await home()
  const path = askingPath(client, { code_challenge_method: 'plain' })

  const shown = await browser.visit(path)

  const [, way = ''] = /<a class="button main" href="([^"]*)"/.exec(shown.html) ?? []
  const { searchParams } = new URL(way.replaceAll('&amp;', '&'))
  expect((await openBrowser(world).send(path)).status).toBe(303)
  expect([shown.status, shown.headers.get('refresh')]).toEqual([400, null])
  expect(shown.text).toContain('Back to the app app.example')
  expect(searchParams.get('error')).toBe('invalid_request')
  expect(searchParams.get('state')).toBe('a state')
  expect(searchParams.get('iss')).toBe('http://aoa.example/oauth')
})

test('the owner allows an app to look: it is back with a code, its state and the issuer', async () => {
  const { person, browser } = await home()
  const path = askingPath(client)

  const asked = await browser.visit(path)
  const there = goesTo(await submitTo(browser, path, yes))

  expect(asked.text).toContain('Nobody has checked who this is')
  expect(asked.text).toContain('app.example')
  expect(there.origin + there.pathname).toBe(redirectUri)
  expect(there.searchParams.get('code')).toMatch(/^aoa_code_\w{36}$/)
  expect(there.searchParams.get('state')).toBe('a state')
  expect(there.searchParams.get('iss')).toBe('http://aoa.example/oauth')
  expect(await codesOf(person)).toEqual([{ scopes: ['read'], days: 90, each: null, day: null }])
  expect(await feedOf(world.db, person.agent)).toEqual(['app_connected'])
})

test('the owner denies: the app hears it, and nothing was given', async () => {
  const { person, browser } = await home()
  const path = askingPath(client, { scope: 'full' })
  await browser.visit(path)

  const { searchParams } = goesTo(await submitTo(browser, path, { decision: 'denied' }))

  expect([searchParams.get('error'), searchParams.get('state')]).toEqual([
    'access_denied',
    'a state',
  ])
  expect([await codesOf(person), await feedOf(world.db, person.agent)]).toEqual([[], []])
})

test('less than was asked can be allowed, never more', async () => {
  const { person, browser } = await home()
  const path = askingPath(client, { scope: 'pay vault' })
  const { html } = await browser.visit(path)

  const more = await submitTo(browser, path, { ...yes, level: 'full' })
  await browser.visit(path)
  const less = await submitTo(browser, path, { ...yes, level: 'read', days: '7' })

  const offered = [...html.matchAll(/name="level" value="(\w+)"/g)].map(([, name]) => name)
  expect(offered).toEqual(['read', 'read_vault', 'pay'])
  expect(more.status).toBe(400)
  expect(goesTo(less).searchParams.has('code')).toBe(true)
  expect(await codesOf(person)).toEqual([{ scopes: ['read'], days: 7, each: null, day: null }])
})

test('caps begin at the limit without asking, and those that the owner sets go with the code', async () => {
  const { person, browser } = await home()
  const path = askingPath(client, { scope: 'pay' })
  const { html } = await browser.visit(path)

  await submitTo(browser, path, { ...yes, each: '12.5', day: '40', days: '30' })

  expect(html).toMatch(/name="each"[^>]*value="200"/)
  expect(html).toMatch(/name="day"[^>]*value="200"/)
  const given = { scopes: ['pay'], days: 30, each: '12500000', day: '40000000' }
  expect(await codesOf(person)).toEqual([given])
})

test.each(['', '-1', '1e3', 'many', '1000000.01'])('a cap of "%s" gives nothing', async (each) => {
  const { person, browser } = await home()
  const path = askingPath(client, { scope: 'pay' })
  await browser.visit(path)

  const shown = await submitTo(browser, path, { ...yes, each, day: '40' })

  expect(shown.status).toBe(400)
  expect(shown.html).toContain('id="field-each-error">Enter a cap from 0 to 1000000')
  expect(await codesOf(person)).toEqual([])
})

test.each(['read', 'pay', 'full', 'vault', 'read vault'])(
  'to allow %s takes a proof, after which the form is filled in as it was',
  async (scope) => {
    const { person, browser } = await home()
    const path = askingPath(client, { scope })
    await world.tick(601)
    await browser.visit(path)

    const asked = await submitTo(browser, path, { ...yes, days: '180' })
    const before = await codesOf(person)
    const shown = await submitTo(browser, '/web/proof', { password: person.password })
    const there = goesTo(await submitTo(browser, path, yes))

    expect(asked.path).toBe(`/web/proof?next=${encodeURIComponent(path)}`)
    expect(before).toEqual([])
    expect([shown.path, shown.text]).toEqual([path, expect.stringContaining('Nothing has changed')])
    expect(there.searchParams.has('code')).toBe(true)
    expect(await codesOf(person)).toMatchObject([{ days: 180 }])
  },
)

test('what was typed for one app fills in nothing for another', async () => {
  const { browser } = await home()
  const path = askingPath(client, { scope: 'pay' })
  await world.tick(601)
  await browser.visit(path)
  await submitTo(browser, path, { ...yes, each: '777', day: '777' })

  const other = await browser.visit(askingPath(await registerApp(world), { scope: 'pay' }))

  expect(other.html).not.toContain('value="777"')
})

test('a frozen account lets nobody in, and says so', async () => {
  const { person, browser } = await home()
  const path = askingPath(client)
  const shownBefore = await browser.visit(path)
  await world.db.sql`update private.accounts set frozen_at = private.clock()
    where id = ${person.agent.id}`

  const shown = await browser.visit(path)

  expect(shownBefore.html).toContain('value="allowed"')
  expect(shown.text).toContain('The account is frozen')
  expect(shown.html).not.toContain('value="allowed"')
  const token = ownForm(browser)
  const sent = await browser.send(path, {
    method: 'POST',
    body: new URLSearchParams({
      form: token,
      account: person.agent.id,
      ...yes,
      shown: shownIn(shownBefore.html),
      level: 'read',
    }),
    headers: { origin: 'http://localhost' },
  })
  expect(sent.status).toBe(403)
  expect(await codesOf(person)).toEqual([])
})

test.each(['read', 'vault', 'full'])('on hold no app is let in for %s', async (scope) => {
  const { person, browser } = await home()
  const path = askingPath(client, { scope })
  await browser.visit(path)
  const sent = { ...yes, account: person.agent.id, level: scope }
  await world.db.sql`select private.begin_hold(${person.agent.id})`

  const refused = await submitTo(browser, path, sent)
  const shown = await browser.visit(path)

  expect(refused.text).toContain('The account is on hold')
  expect(shown.text).toContain('nobody can approve payments')
  expect(shown.html).not.toContain('value="allowed"')
  expect(await codesOf(person)).toEqual([])
})

test('a name is shown as plain text, without what hides or reorders', async () => {
  const { browser } = await home()
  const name = '<b>Bank</b>\u202e\u200b "of" all'
  const { html } = await browser.visit(askingPath(await registerApp(world, { name })))

  expect(html).toContain('&lt;b&gt;Bank&lt;/b&gt;')
  expect(html).not.toMatch(/<b>|\u202e|\u200b/)
})

test('an app that is described by a document is shown by the host of it', async () => {
  const { browser } = await home()
  const id = 'https://xn--bcher-kva.example.com/app.json'
  await describeApp(world, id)

  const { text } = await browser.visit(askingPath(id))

  expect(text).toMatch(/xn--bcher-kva\.example\.com It asks for: .* It calls itself Research desk/)
  expect(text).toContain('This name has letters beyond a to z')
  expect(text).not.toContain('Nobody has checked')
})

test('an app on the own machine is warned of', async () => {
  const { browser } = await home()
  const uri = 'http://127.0.0.1/back'
  const id = await registerApp(world, { uri })

  const asking = { redirect_uri: 'http://127.0.0.1:4321/back' }
  const { text } = await browser.visit(askingPath(id, asking))

  expect(text).toContain('The response goes to a program on this device')
})

test('a form from elsewhere lets nobody in', async () => {
  const { person, browser } = await home()
  const body = new URLSearchParams({ ...yes, level: 'read', form: 'f'.repeat(64) })

  const headers = { origin: 'https://evil.example' }
  const sent = await browser.send(askingPath(client), { method: 'POST', body, headers })

  expect(sent.status).toBe(403)
  expect(await codesOf(person)).toEqual([])
})
