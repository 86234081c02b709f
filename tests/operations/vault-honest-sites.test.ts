/** An agent learns no secret from honest sites that show their input. */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { honestPaths, openHonestSite } from '../support/honest-site.ts'
import { openThief, password, secretWords, steal } from '../support/secret-thief.ts'
import { seeded } from '../support/seed.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const paths = [...honestPaths, '/api/me', '/graphql', '/files']
const names = ['bio', 'text', 'comment', 'message', 'q', 'display_name', 'password']
const token = 'canary-tok-4711'

async function user(given: { username?: string } = {}) {
  const site = await openHonestSite()
  const agent = await world.agent('full')
  const entry = { site: site.origin, username: 'ada', password, fields: { token }, ...given }
  return { site, agent, credential_id: await entryOf(world, agent, entry) }
}

test.each(paths)('no template puts a secret where nobody approved it, at %s', async (path) => {
  const { site, agent, credential_id } = await user()
  const name = names[paths.indexOf(path) % names.length]
  for (const secret of ['password', 'fields.token']) {
    const templates = [
      { method: 'POST', inject: [{ where: 'form_field', name, secret }] },
      { method: 'PATCH', inject: [{ where: 'json_field', pointer: `/user/${name}`, secret }] },
      { method: 'GET', inject: [{ where: 'header', name: 'user-agent', secret }] },
      { method: 'GET', inject: [{ where: 'header', name: 'cookie', prefix: 'a=', secret }] },
      { method: 'POST', inject: [{ where: 'basic' }] },
      { method: 'GET', inject: [{ where: 'bearer', secret }] },
    ]
    for (const template of templates) {
      const answer = await agent.post('/vault-use', { credential_id, path, ...template })
      expect(answer, JSON.stringify(template)).toMatchObject({
        status: 403,
        body: { error: 'destination_not_approved' },
      })
    }
  }

  expect(site.received).toEqual([])
})

test('whatever an agent tries, an honest site shows no secret and neither does an answer', async () => {
  const site = await openHonestSite()
  const thief = await openThief(world, site, seeded())
  const { agent, credential_id } = thief
  // Few of the random logins are at the right page, so the site may never get the password from them.
  const signedIn = await agent.post('/vault-login', { credential_id, path: '/login' })

  const { leaks, done } = await steal(thief, inForm(100, 400))

  expect(done).toBeGreaterThan(inForm(10, 40))
  expect([...thief.leaksIn(signedIn), ...leaks]).toEqual([])
  expect(site.shown()).not.toMatch(secretWords)
  expect(site.received.some(({ body }) => body.toString().includes('Canary'))).toBe(true)
})

test('an API key goes out as a bearer token with nobody asked', async () => {
  const { site, agent, credential_id } = await user({ username: '' })

  for (const secret of ['password', 'fields.token']) {
    const request = { method: 'GET', path: '/api/me?page=2', inject: [{ where: 'bearer', secret }] }
    const headers = { accept: 'application/json', 'X-Api-Version': '2026-01-01' }
    const answer = await agent.post('/vault-use', { credential_id, ...request, headers })

    expect(answer.status).toBe(200)
  }

  const sent = site.received.map(({ headers }) => headers['authorization'])
  expect(sent).toEqual([`Bearer ${password}`, `Bearer ${token}`])
})

test.each([
  [
    'a member of JSON',
    { where: 'json_field', name: '/password', path: '/api/login' },
    { inject: [{ where: 'json_field', pointer: '/password', secret: 'password' }] },
  ],
  [
    'Basic authentication',
    { where: 'basic', path: '/basic', method: 'GET' },
    { method: 'GET', inject: [{ where: 'basic' }] },
  ],
  [
    'a header of its own',
    { where: 'header', name: 'x-api-key', path: '/api/me', method: 'GET' },
    { method: 'GET', inject: [{ where: 'header', name: 'X-Api-Key', secret: 'password' }] },
  ],
  [
    'a form that the agent writes',
    { where: 'form_field', name: 'password', path: '/login' },
    { inject: [{ where: 'form_field', name: 'password', secret: 'password' }] },
  ],
] as const)('a login by %s works where its owner approved it', async (_, destination, template) => {
  const { site, agent, credential_id } = await user()
  const request = { credential_id, method: 'POST', path: destination.path, ...template }
  const before = await agent.post('/vault-use', request)
  await approveDestination(world, credential_id, destination)

  const answer = await agent.post('/vault-use', request)

  expect(before).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
  expect(answer.status).toBe(200)
  expect(site.received).toHaveLength(1)
  expect(JSON.stringify(answer.body) + site.shown()).not.toMatch(secretWords)
})
