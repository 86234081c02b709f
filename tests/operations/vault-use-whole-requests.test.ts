/**
 * A destination names each value of the entry in the request. Beside a secret goes no cookie or authorization of
 * the agent's own, and no other value of the entry, the user name included.
 */
import { expect, test } from 'vitest'
import { type Received, serverThat } from '../support/http.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse "battery"'
const hook = 'canary-hook-4711'

/** Serves an honest API: a cookie or Basic names the caller, who can read its own settings. */
async function openSite() {
  const settings = new Map<string, string>()
  const memberOf = ({ headers }: Received) => {
    const cookie = /(?:^|; )sid=(\w+)/.exec(headers.cookie ?? '')?.[1]
    if (cookie === 'agents0wn') return 'mallory'
    const pair = Buffer.from(String(headers.authorization ?? '').slice(6), 'base64').toString()
    return pair === `ada:${password}` ? 'ada' : undefined
  }
  const server = await serverThat((response, received) => {
    const member = memberOf(received)
    if (member === undefined) return void response.writeHead(401).end()
    if (received.method === 'PUT') settings.set(member, received.body.toString())
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(settings.get(member) ?? '{}')
  })
  return { ...server, origin: new URL(server.url).origin }
}

async function user() {
  const site = await openSite()
  const agent = await world.agent('vault')
  const fields = { hook }
  const entry = { site: site.origin, username: 'ada', password, fields }
  const credential_id = await entryOf(world, agent, entry)
  // The owner approved for PUT /api/settings: Basic alone, the field in this member alone, and both.
  const of = { method: 'PUT', path: '/api/settings' }
  const member = { where: 'json_field', name: '/webhook_secret', secret: 'fields.hook' } as const
  await approveDestination(world, credential_id, { ...of, where: 'basic' })
  await approveDestination(world, credential_id, { ...of, ...member })
  await approveDestination(world, credential_id, { ...of, ...member, also: [{ where: 'basic' }] })
  return { site, agent, credential_id, of }
}

const destination = { where: 'json_field', pointer: '/webhook_secret', secret: 'fields.hook' }

test('no cookie of the agent goes beside a secret, whatever it is made of', async () => {
  const { site, agent, credential_id, of } = await user()
  const cookie = {
    where: 'header',
    name: 'cookie',
    prefix: 'sid=agents0wn; x=',
    secret: 'username',
  }

  await agent.post('/vault-use', { credential_id, ...of, inject: [destination, cookie] })
  // The agent reads with its own cookie, without the service.
  const own = await fetch(`${site.origin}/api/settings`, { headers: { cookie: 'sid=agents0wn' } })
  const read = await own.text()

  expect(read).not.toContain(hook)
  expect(site.received.filter(({ headers, method }) => method === 'PUT' && headers.cookie)).toEqual(
    [],
  )
})

test('no field and no header beside a secret but what the owner approved', async () => {
  const { site, agent, credential_id, of } = await user()
  const order = {
    credential_id,
    ...of,
    inject: [
      { where: 'basic' },
      destination,
      { where: 'json_field', pointer: '/public', secret: 'username' },
      { where: 'header', name: 'X-Original-URL', prefix: '/notes?by=', secret: 'username' },
      { where: 'header', name: 'X-Rewrite-URL', prefix: '/notes?by=', secret: 'username' },
    ],
  }

  const answer = await agent.post('/vault-use', order)

  expect(site.received.map(({ body }) => body.toString())).toEqual([])
  expect(answer.status).toBe(403)
})

test('what was approved whole is sent, and what was approved in parts is not put together', async () => {
  const { site, agent, credential_id, of } = await user()
  const other = { ...of, path: '/api/token' }
  await approveDestination(world, credential_id, { ...other, where: 'basic' })
  await approveDestination(world, credential_id, {
    ...other,
    where: 'json_field',
    name: '/webhook_secret',
    secret: 'fields.hook',
  })
  const inject = [destination, { where: 'basic' }]

  const whole = await agent.post('/vault-use', { credential_id, ...of, inject })
  const parts = await agent.post('/vault-use', { credential_id, ...other, inject })

  expect(whole).toMatchObject({ status: 200, body: { response: { status: 200 } } })
  expect(parts).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
  expect(site.received).toHaveLength(1)
})
