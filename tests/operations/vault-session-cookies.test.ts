/**
 * Session cookies stay sealed: whoever has the value can continue the session without the service, even
 * after a freeze, for as long as the site allows. Honest sites reveal it in the address (servlets), in a
 * page that shows its input (phpinfo), and in a form field.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse "battery"'
const sid = 'A7F3C09E5B1D4482A6E0'

async function openSite() {
  const site = await serverThat((response, { method, url, headers, body }) => {
    const isIn = (headers.cookie ?? '').includes(`JSESSIONID=${sid}`)
    const isRight = new URLSearchParams(body.toString()).get('password') === password
    if (method === 'POST' && isRight) {
      const location = `/home;jsessionid=${sid}`
      response.setHeader('set-cookie', [
        `JSESSIONID=${sid}; Path=/; HttpOnly; Secure`,
        'consent=accepted; Path=/',
        'zone=Europe/Berlin; Path=/',
      ])
      return void response.writeHead(302, { location }).end()
    }
    const pages: [string, string][] = [
      ['/home', isIn ? 'Welcome, ada' : 'Nobody'],
      ['/phpinfo', `HTTP_COOKIE: ${headers.cookie ?? ''}`],
      ['/settings', 'Lang is en-US-x, you accepted, Europe/Berlin'],
      [
        '/links',
        `<a href="/a;jsessionid=0BADF00D77AA">a</a> ${encodeURIComponent(sid.toLowerCase())}`,
      ],
      [
        '/support',
        '<a href="/reset-password/0aB1cD2eF3gH4iJ5">new password</a> /sso?next=/&amp;token=QwErTyUiOpAsDf <a href="/list?page=2&order=newest-1">',
      ],
      ['/upload', `<form><input type="hidden" name="session" value="${sid}"></form>`],
    ]
    const page = pages.find(([path]) => url.startsWith(path))?.[1]
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(
      page ??
        '<form method="post"><input name="user"><input type="password" name="password"></form>',
    )
  })
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })
  return { agent, credential_id, origin }
}

test.each(['/home', '/phpinfo', '/upload'])(
  'the answer of %s tells no cookie of the session',
  async (path) => {
    const { agent, credential_id } = await openSite()
    const begun = await agent.post('/vault-login', { credential_id, path: '/login' })

    const step = await agent.post('/vault-session', { session: begun.body['session'], path })

    expect(JSON.stringify(path === '/home' ? [begun.body, step.body] : step.body)).not.toContain(
      sid,
    )
  },
)

test('a session in an address alone is told neither, and the address without it is opened', async () => {
  const { agent, credential_id, origin } = await openSite()
  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })

  const session = begun.body['session']
  const step = await agent.post('/vault-session', { session, path: '/links' })
  const on = await agent.post('/vault-session', {
    session,
    path: '/home;jsessionid=%5Bsecret%20removed%5D',
  })

  expect(JSON.stringify(step.body)).not.toMatch(/0BADF00D77AA|a7f3c0/i)
  expect(on.body).toMatchObject({
    response: { url: `${origin}/home`, body: 'Welcome, ada' },
  })
})

test('a token of an address that signs in or sets a password anew is not told', async () => {
  const { agent, credential_id } = await openSite()
  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })

  const step = await agent.post('/vault-session', {
    session: begun.body['session'],
    path: '/support',
  })

  const body =
    '<a href="/reset-password/[secret removed]">new password</a> /sso?next=/&amp;token=[secret removed] <a href="/list?page=2&order=newest-1">'
  expect(step.body).toMatchObject({ removed: 2, response: { body } })
})

test('words that a cookie keeps as settings are shown', async () => {
  const { agent, credential_id } = await openSite()
  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })

  const step = await agent.post('/vault-session', {
    session: begun.body['session'],
    path: '/settings',
  })

  const body = 'Lang is en-US-x, you accepted, Europe/Berlin'
  expect(step.body).toMatchObject({ removed: 0, response: { body } })
})

test('after a freeze nobody who read an answer is in the session', async () => {
  const { agent, credential_id, origin } = await openSite()
  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })
  const step = await agent.post('/vault-session', {
    session: begun.body['session'],
    path: '/phpinfo',
  })
  await agent.post('/account-freeze', {})

  const cookie = /JSESSIONID=(\w+)/.exec(JSON.stringify(step.body))?.[0] ?? ''
  const past = await fetch(`${origin}/home`, { headers: { cookie } })

  expect(await past.text()).toBe('Nobody')
})
