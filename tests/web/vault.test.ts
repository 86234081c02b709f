/** The owner adds, finds, changes, sees and deletes logins on the vault's pages, without script. */
import { expect, test } from 'vitest'
import { type Browser, ownForm, type Shown, signedIn } from '../support/browserless.ts'
import { openPerson, type Person, signInAs } from '../support/person.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const site = 'https://www.shop.com'
const password = 'nine blue canaries'
const totp_secret = 'JBSWY3DPEHPK3PXP'

async function home() {
  const agent = await world.agent('full')
  return { agent, browser: await signedIn(world, agent) }
}

/** Adds a login on its page. Returns the page of the new login. */
async function add(browser: Browser, typed: Record<string, string> = {}): Promise<Shown> {
  await browser.visit('/web/vault/new')
  return browser.submit({ site, username: 'ada', password, ...typed })
}

/** Returns the logins of the account as its key sees them. */
async function listed(agent: Agent) {
  const { body } = await agent.get('/user-site-credentials')
  return body['credentials']
}

test('a login is added, found by a part of its site, and told to agents without its secrets', async () => {
  const { agent, browser } = await home()
  expect((await browser.visit('/web/vault')).text).toContain('There is no login yet')

  const added = await add(browser, {
    totp_secret,
    fields: 'pin: 4711\n\nanswer: a : b',
    notes: 'n',
  })

  expect(added.path).toMatch(/^\/web\/vault\/[0-9a-f-]{36}$/)
  expect(added.text).toContain('password, one-time codes, pin, answer')
  expect(added.text).toContain('A login of https://www.shop.com was stored by the owner.')
  expect(await listed(agent)).toMatchObject([
    { site, username: 'ada', has_password: true, has_totp: true, field_names: ['pin', 'answer'] },
  ])
  for (const q of ['SHOP', 'ada', '']) {
    expect((await browser.visit(`/web/vault?q=${q}`)).text).toContain('www.shop.com ada')
  }
  expect((await browser.visit('/web/vault?q=elsewhere')).text).toContain('Nothing matches')
})

test('a login that is there is not added again, and nothing of what was typed is stored', async () => {
  const { agent, browser } = await home()
  await add(browser)
  const before = await listed(agent)

  const again = await add(browser, { password: 'another password' })

  expect(again.status).toBe(422)
  expect(again.html).toContain('id="field-username-error">The vault has a login of this user name')
  expect(again.html).not.toContain('another password')
  expect(await listed(agent)).toEqual(before)
})

test.each([
  [{ site: 'http://www.shop.com' }, 'site', 'https sites only'],
  [{ site: 'http://localhost/web' }, 'site', 'this service itself'],
  [{ site: '' }, 'site', 'the site'],
  [{ username: '', password: '' }, 'password', 'there is nothing to use'],
  [{ totp_secret: '!' }, 'totp_secret', 'TOTP'],
  [{ fields: 'two words: 1' }, 'fields', 'the further secrets'],
  [{ notes: 'x'.repeat(4_097) }, 'notes', 'the notes'],
])('%j is not stored, and its field says why', async (typed, field, why) => {
  const { agent, browser } = await home()

  const page = await add(browser, typed)

  expect(page.status).toBe(422)
  expect(page.html).toMatch(new RegExp(`id="field-${field}-error">[^<]*${why}`))
  expect(page.html).not.toContain(password)
  expect(await listed(agent)).toEqual([])
})

test('of a login that is changed the empty fields stay as they were', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  const { path } = await add(browser, { totp_secret, fields: 'pin: 4711\nold: 1', notes: 'mine' })

  await browser.visit(path)
  await browser.submit({ fields: 'old\nnew: 2' }, path)
  const shown = await shownSecrets(browser, path)

  expect(shown.text).toMatch(/Password nine blue canaries One-time code.*pin 4711 new 2 Notes mine/)
  expect(shown.text).not.toContain(totp_secret)
  await browser.visit(path)
  await browser.submit({ password: 'ten blue canaries', drop_totp: 'yes', drop_notes: 'yes' }, path)
  const after = await shownSecrets(browser, path)
  expect(after.text).toContain('ten blue canaries')
  expect(after.text).not.toContain('One-time code')
  expect(after.text).not.toContain('Notes')
})

test('a login that has changed since the page was opened is not changed by its form', async () => {
  const { browser } = await home()
  const { path } = await add(browser)
  await browser.visit(path)
  await browser.submit({ password: 'the second' }, path)
  await browser.visit(path)

  const late = await browser.submit({ password: 'the third', version: '1' }, path)

  expect(late.status).toBe(422)
  expect(late.text).toContain('Nothing has changed')
})

function shownSecrets(browser: Browser, path: string): Promise<Shown> {
  return browser.visit(path).then(() => browser.submit({}, `${path}/shown`))
}

test('secrets are shown after a fresh proof alone, on no page of their own, and it is told', async () => {
  const person: Person = await openPerson(world)
  const browser = await signInAs(world, person)
  const { path } = await add(browser)
  await world.tick(601)

  const refused = await shownSecrets(browser, path)

  expect(refused.path).toBe(`/web/proof?next=${encodeURIComponent(path)}`)
  expect(refused.html).not.toContain(password)
  const back = await browser.submit({ password: person.password }, '/web/proof')
  expect(back.path).toBe(path)
  expect(back.html).not.toContain(password)
  const shown = await shownSecrets(browser, path)
  expect(shown.text).toContain(password)
  expect(shown.headers.get('cache-control')).toBe('no-store')
  expect((await browser.visit(`${path}/shown`)).status).toBe(404)
  expect((await browser.visit(path)).text).toContain('were seen by the owner')
})

test('on hold secrets are not shown, whatever is proven', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  const { path } = await add(browser)
  await sql`select private.begin_hold(${person.agent.id})`

  const refused = await shownSecrets(browser, path)

  expect(refused.status).toBe(403)
  expect(refused.html).not.toContain(password)
})

test('a login is deleted when that is ticked, and its history stays in the feed', async () => {
  const { agent, browser } = await home()
  const { path } = await add(browser)
  await browser.visit(path)
  expect((await browser.submit({}, `${path}/deleted`)).path).toBe(path)

  const deleted = await browser.submit({ sure: 'yes' }, `${path}/deleted`)

  expect(deleted.text).toContain('There is no login yet')
  expect(await listed(agent)).toEqual([])
  expect((await browser.visit(path)).status).toBe(404)
  expect((await browser.visit('/web/activity?category=vault')).text).toContain(
    'was deleted by the owner',
  )
})

test("a stranger's login answers as one that does not exist", async () => {
  const { browser } = await home()
  const { path } = await add(browser)
  const stranger = await signedIn(world, await world.agent('full'))
  const missing = '/web/vault/0f8fad5b-d9cb-469f-a165-70867728950e'
  await stranger.visit('/web/vault/new')
  const form = ownForm(stranger)

  for (const step of ['', '/shown', '/deleted']) {
    const [theirs, none] = await Promise.all(
      [path, missing].map((one) =>
        stranger.send(one + step, {
          method: 'POST',
          body: new URLSearchParams({ form, sure: 'yes', version: '1', password }),
          headers: { origin: 'http://localhost' },
        }),
      ),
    )
    expect(theirs?.status).toBe(404)
    expect(theirs?.text.replace(/Request .*/, '')).toBe(none?.text.replace(/Request .*/, ''))
  }
  expect((await browser.visit(path)).status).toBe(200)
})

test('what an agent made is told with the name of its key, and is the owner’s once it is changed', async () => {
  const { agent, browser } = await home()
  await agent.post('/vault-store', { site, username: 'bot', password })
  const page = await browser.visit('/web/vault')
  expect(page.text).toContain('The key “full”')
  const [, path = ''] = /href="(\/web\/vault\/[0-9a-f-]{36})"/.exec(page.html) ?? []

  await browser.visit(path)
  await browser.submit({ password: 'the owner’s' }, path)

  expect((await browser.visit(path)).text).toContain('Added by You')
  expect(await agent.post('/vault-store', { site, username: 'bot', password })).toMatchObject({
    status: 403,
  })
})

test('a key reads secrets once its owner has proven itself and let it, and no longer than that', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  await add(browser)
  const { agent, email } = person
  const [entry] = await sql`select id from private.vault_entries where account = ${agent.id}`
  const read = async () =>
    JSON.stringify((await agent.get(`/user-site-credentials?credential_id=${entry?.['id']}`)).body)
  const [key] = await sql`select id from private.credentials
    where account = ${agent.id} and kind = 'api_key'`
  const path = `/web/keys/${key?.['id']}`
  await world.tick(601)
  await browser.visit(path)

  const refused = await browser.submit({ wanted: 'reads' }, path)

  expect(refused.path).toMatch(/^\/web\/proof/)
  expect(await read()).not.toContain(password)
  await browser.submit({ password: person.password }, '/web/proof')
  await browser.submit({ wanted: 'reads' }, path)
  expect(await read()).toContain(password)
  expect(JSON.stringify(await world.mails(email))).toContain('An API key can now read your secrets')
  await world.tick(601)
  await browser.visit(path)
  expect((await browser.submit({ wanted: 'uses' }, path)).text).toContain(
    'This is the safe setting',
  )
  expect(await read()).not.toContain(password)
})
