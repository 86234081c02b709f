/**
 * No password is stored from addresses that a site names, as when it repeats its input there: neither in
 * the feed nor in the destination that waits for approval.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1-horse-battery'

/** Serves a site that repeats its input in addresses: of a redirect, or of the forms on the page after it. */
async function openSite(way: 'redirect' | 'form') {
  let said = ''
  const server = await serverThat((response, { method, url, body }) => {
    const { pathname } = new URL(url, 'http://site')
    if (method === 'POST') {
      said = body.toString()
      const location = way === 'redirect' ? `${pathname}?failed=1&${said}` : '/login'
      return void response.writeHead(302, { location }).end()
    }
    const action = way === 'form' ? `/login?${said.replaceAll('&', '&amp;')}` : '/login'
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<form method="post" action="${action}"><input name="username">
        <input type="password" name="password"></form>
      <form method="post" action="${action}"><input name="sms_code_x" autocomplete="one-time-code">
        <input name="a"></form>`)
  })
  return { ...server, origin: new URL(server.url).origin }
}

async function failed(way: 'redirect' | 'form') {
  const site = await openSite(way)
  const agent = await world.agent('full')
  const totp = {
    seed: 'JBSWY3DPEHPK3PXP',
    algorithm: 'SHA1',
    digits: 6,
    periodSeconds: 30,
  } as const
  const entry = { site: site.origin, username: 'ada', password, totp }
  const credential_id = await entryOf(world, agent, entry)
  const begun = await signInAt(world, agent, { credential_id })
  return { site, agent, begun, session: begun.body['session'] }
}

test('a redirect that repeats the password is not followed, and told without it', async () => {
  const { site, begun } = await failed('redirect')

  expect(begun.body).toMatchObject({
    withheld: 'password_sent',
    response: { status: 302, location: '/login', body: '' },
  })
  expect(site.received.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
})

test.each(['redirect', 'form'] as const)(
  'the feed tells no password that a site put into the address of a %s',
  async (way) => {
    const { agent, begun, session } = await failed(way)

    await agent.post('/vault-session', { session, path: '/login' })
    const step = await agent.post('/vault-session', { session, form: 0 })
    const feed = await agent.get('/wallet-activity-list?category=vault&limit=50')

    expect([begun.status, step.status]).toEqual([200, 200])
    expect(JSON.stringify([begun.body, step.body, feed.body])).not.toContain(password)
    expect(JSON.stringify(feed.body)).toContain('"POST /login"')
  },
)

test('the refusal that names a destination to approve tells none either', async () => {
  const { agent, session } = await failed('form')

  const asked = await agent.post('/vault-session', { session, form: 1, secret: 'totp' })

  expect(asked).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
  expect(JSON.stringify(asked.body)).not.toContain(password)
  const rows = await world.db.sql`select p::text as row
    from private.vault_destinations p where approved_at is null`
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(password)
})

test('of a request of the agent the feed tells method and path', async () => {
  const site = await openSite('form')
  const agent = await world.agent('full')
  const entry = { site: site.origin, username: '', password }
  const credential_id = await entryOf(world, agent, entry)
  const inject = [{ where: 'bearer', secret: 'password' }]
  const path = '/v1/things?session=mine'

  await agent.post('/vault-use', { credential_id, method: 'GET', path, inject })

  const feed = JSON.stringify((await agent.get('/wallet-activity-list?category=vault')).body)
  expect(feed).toContain('"GET /v1/things"')
  expect(feed).not.toContain('session=mine')
})
