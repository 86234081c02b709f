/** Only the owner of the account, in a session with a proof, can use a link that asks for a login. */
import { beforeEach, expect, test } from 'vitest'
import { type Browser, openBrowser, ownForm, signedIn } from '../support/browserless.ts'
import { linkOf, statusOf } from '../support/links.ts'
import { openPerson } from '../support/person.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const site = 'https://www.shop.com'
const login = { username: 'ada', password: 'nine blue canaries' }

// All browsers here share one network, whose requests are rate limited.
beforeEach(() => sql`delete from private.rate_buckets`)

async function linkFor(agent: Agent) {
  const link = await linkOf(agent, { action_type: 'website_login', site, username: 'ada' })
  return { ...link, path: new URL(link.url).pathname }
}

const entriesOf = ({ id }: Agent) => sql`select from private.vault_entries where account = ${id}`

/** Sends the step of a link with this browser's form token, whatever page it was shown. */
async function take(browser: Browser, path: string, typed: object = {}) {
  const form = ownForm(browser)
  const body = new URLSearchParams({ form, ...typed })
  return browser.send(path, { method: 'POST', body, headers: { origin: 'http://localhost' } })
}

test('who is not signed in is asked to sign in, comes back, and enters the login', async () => {
  const person = await openPerson(world)
  const link = await linkFor(person.agent)
  const browser = openBrowser(world)

  const asked = await browser.visit(link.path)

  for (const words of ['shop.com', person.agent.alias, '<form', 'ada']) {
    expect(/<main\b.*<\/main>/s.exec(asked.html)?.[0]).not.toContain(words)
  }
  const [, way = ''] = /href="(\/web\/login\?[^"]*)"/.exec(asked.html) ?? []
  await browser.visit(way)
  const { email, password } = person
  const back = await browser.submit({ email, password }, '/web/login')
  expect(back.path).toBe(link.path)
  expect(back.text).toContain(`${person.agent.alias}’s agent is asking for your login`)
  await browser.submit({}, `${link.path}/open`)
  const done = await browser.submit(login, `${link.path}/enter`)
  expect(done.text).toContain('is in the vault')
  expect(await entriesOf(person.agent)).toHaveLength(1)
})

test.each(['a stranger', 'the owner of another account'])(
  '%s never sees the form, and by no step opens or fills in the link',
  async (who) => {
    const agent = await world.agent('full')
    const link = await linkFor(agent)
    const other =
      who === 'a stranger' ? openBrowser(world) : await signedIn(world, await world.agent('full'))
    const owner = await signedIn(world, agent)
    const looks = async () => {
      const { html } = await other.visit(link.path)
      expect(html).not.toMatch(/shop\.com|type="password"|value="ada"/)
    }

    await looks()
    await take(other, `${link.path}/open`)
    await looks()
    await take(other, `${link.path}/enter`, login)
    await looks()

    expect(await statusOf(agent, link)).toMatchObject({ status: 'pending' })
    await owner.visit(link.path)
    await owner.submit({}, `${link.path}/open`)
    await take(other, `${link.path}/enter`, login)
    await looks()
    expect(await entriesOf(agent)).toHaveLength(0)
  },
)

test('a browser that opened the link and is signed out, or in to another account, stores nothing', async () => {
  const agent = await world.agent('full')
  const link = await linkFor(agent)
  const browser = await signedIn(world, agent)
  await browser.visit(link.path)
  await browser.submit({}, `${link.path}/open`)
  const other = await signedIn(world, await world.agent('full'))

  for (const session of [undefined, other.cookies.get('__Host-aoa_session')]) {
    browser.cookies.delete('__Host-aoa_session')
    if (session !== undefined) browser.cookies.set('__Host-aoa_session', session)
    await take(browser, `${link.path}/enter`, login)
    expect((await browser.visit(link.path)).html).not.toMatch(/shop\.com|type="password"/)
  }

  expect(await entriesOf(agent)).toHaveLength(0)
})

test('the owner proves itself before the form is shown, and before what it holds is stored', async () => {
  const agent = await world.agent('full')
  const link = await linkFor(agent)
  const browser = await signedIn(world, agent)
  await browser.visit(link.path)
  const shown = await browser.submit({}, `${link.path}/open`)
  expect(shown.html).toContain('type="password"')
  await sql`update private.sessions s set proven_at = '-infinity'
    from private.credentials k where k.id = s.credential and k.account = ${agent.id}`

  const sent = await take(browser, `${link.path}/enter`, login)

  const proof = `/web/proof?next=${encodeURIComponent(link.path)}`
  expect(sent.headers.get('location')).toBe(proof)
  const asked = await browser.send(link.path)
  expect(asked.headers.get('location')).toBe(proof)
  expect(await entriesOf(agent)).toHaveLength(0)
})

test('only a key or app that may use secrets asks for a login', async () => {
  const order = { action_type: 'website_login', site }
  const post = async (scope: 'read' | 'pay' | 'full') =>
    (await world.agent(scope)).post('/create-hosted-action', order)

  expect(await post('read')).toMatchObject({
    status: 403,
    body: { error: 'insufficient_scope' },
  })
  for (const scope of ['pay', 'full'] as const)
    expect(await post(scope)).toMatchObject({ status: 200 })
})
