/** The web app looks at the page of a login that its owner types, and shows where the password would go. */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { serverThat } from '../support/http.ts'
import { ownerOf } from '../support/owner.ts'
import { entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse'
const signIn =
  '<form method="post" action="/in"><input name="user"><input type="password" name="password"></form>'
const pages: Readonly<Record<string, string>> = {
  'GET /login': signIn,
  'GET /two':
    '<form method="post" action="/name"><input name="user" autocomplete="username"></form>',
  'POST /name': '<form method="post" action="/secret"><input type="password" name="pw"></form>',
}

async function home() {
  const site = await serverThat((response, { method, url }) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(pages[`${method} ${url}`] ?? 'Hello')
  })
  const agent = await world.agent('vault')
  const { origin } = new URL(site.url)
  return { site, origin, agent, browser: await signedIn(world, agent) }
}

test.each([
  ['on one page', '/login', 'field "password"', '/in'],
  ['on two pages', '/two', 'field "pw"', '/secret'],
])(
  'a sign-in %s is found while it is typed, and runs unasked once it is approved',
  async (_, path, field, sent) => {
    const { site, origin, agent, browser } = await home()
    await browser.visit('/web/vault/new')

    const found = await browser.submit({ site: origin + path, username: 'ada', password })
    const credential_id = found.path.split('/').at(-2) ?? ''
    const action = /action="([^"]*\/destinations\/[^"]+)"/.exec(found.html)?.[1]
    const told = site.received.map(({ body }) => body.toString()).join()
    await browser.submit({ decision: 'approved' }, action)
    const answer = await agent.post('/vault-login', { credential_id, path })

    expect(found.path).toBe(`/web/vault/${credential_id}/destinations`)
    expect(found.html).toContain(field.replaceAll('"', '&quot;'))
    expect(told).not.toContain('Canary')
    expect(answer).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
    expect(
      site.received.filter(({ url, method }) => method === 'POST' && url === sent),
    ).toHaveLength(1)
  },
)

test('a page without such a field is stored without a question, and the owner hears of it who asks', async () => {
  const { origin, browser } = await home()
  await browser.visit('/web/vault/new')

  const stored = await browser.submit({ site: `${origin}/none`, username: 'ada', password })
  const destinations = `${stored.path}/destinations`
  await browser.visit(destinations)
  const none = await browser.submit({ path: '/none' }, destinations)
  const found = await browser.submit({ path: '/login' }, destinations)

  expect(stored.path).toMatch(/^\/web\/vault\/[0-9a-f-]+$/)
  expect(none.text).toContain('No password field was found there')
  expect(found.html).toContain('field &quot;password&quot;')
})

test('only the owner of a login, and with a fresh proof, has a page of its site looked at', async () => {
  const { site, origin, agent } = await home()
  const entry = await entryOf(world, agent, { site: origin, password })
  const look = async (credential: string, path = '/login') =>
    world.world.vault?.lookAt({ credential, entry, path })
  const stranger = await ownerOf(world, await world.agent('vault'))
  const late = await ownerOf(world, agent, 60)
  const owner = await ownerOf(world, agent)

  expect(await look(stranger.credential)).toMatchObject({ refusal: 'credential_not_found' })
  expect(await look(late.credential)).toMatchObject({ refusal: 'proof_required' })
  for (const path of ['//evil.example/', 'https://evil.example/', '/\\evil.example']) {
    expect(await look(owner.credential, path)).toMatchObject({ refusal: 'site_refused' })
  }
  expect(site.received).toEqual([])
})
