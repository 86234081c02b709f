/**
 * No password is stored from addresses that a site names, as when it repeats its input there: neither in
 * the feed nor in the place that waits for approval.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1-horse-battery'

/** Serves a site that, like old frameworks, repeats its input in the address after a failed sign-in. */
async function openSite() {
  const server = await serverThat((response, { method, url, body }) => {
    const { pathname } = new URL(url, 'http://site')
    if (method === 'POST') {
      const location = `${pathname}?failed=1&${body.toString()}`
      return void response.writeHead(302, { location }).end()
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<form method="post"><input name="username"><input type="password" name="password"></form>
      <form method="post"><input name="sms_code_x" autocomplete="one-time-code"><input name="a"></form>`)
  })
  return { ...server, origin: new URL(server.url).origin }
}

async function failed() {
  const site = await openSite()
  const agent = await world.agent('full')
  const totp = {
    seed: 'JBSWY3DPEHPK3PXP',
    algorithm: 'SHA1',
    digits: 6,
    periodSeconds: 30,
  } as const
  const entry = { site: site.origin, username: 'ada', password, totp }
  const credential_id = await entryOf(world, agent, entry)
  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })
  return { site, agent, begun, session: begun.body['session'] }
}

test('the feed tells no password that a site put into an address', async () => {
  const { agent, begun, session } = await failed()

  const step = await agent.post('/vault-session', { session, form: 0, fields: { username: 'x' } })
  const feed = await agent.get('/wallet-activity-list?category=vault&limit=50')

  expect([begun.status, step.status]).toEqual([200, 200])
  expect(JSON.stringify([begun.body, step.body])).not.toContain(password)
  expect(JSON.stringify(feed.body)).not.toContain(password)
  expect(JSON.stringify(feed.body)).toContain('"POST /login"')
})

test('neither does the refusal that names a place to approve', async () => {
  const { agent, session } = await failed()

  const asked = await agent.post('/vault-session', { session, form: 1, secret: 'totp' })

  expect(asked).toMatchObject({ status: 403, body: { error: 'place_not_approved' } })
  expect(JSON.stringify(asked.body)).not.toContain(password)
  const rows = await world.db.sql`select p::text as row from private.vault_places p`
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(password)
})

test('of a request of the agent the feed tells method and path', async () => {
  const site = await openSite()
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
