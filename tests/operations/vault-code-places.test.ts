/** A code goes only into the field that asks for it or one that the owner approved, never into a header. */
import { expect, test } from 'vitest'
import { answering, serverThat } from '../support/http.ts'
import { codeOf, entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const

const cases = ['mail', 'totp'].flatMap((kind) => [
  { kind, how: { where: 'bearer' } },
  { kind, how: { where: 'header', name: 'x-otp' } },
  { kind, how: { where: 'header', name: 'authorization', prefix: 'Bearer ' } },
])

test.each(cases)('a code ($kind) goes into no header ($how.where)', async ({ kind, how }) => {
  const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const entry = { site: origin, username: '', password: 'canary-key-4711', totp }
  const credential_id = await entryOf(world, agent, entry)
  const handle = await codeOf(world, agent, { value: '482913', hosts: ['127.0.0.1'] })
  const secret = kind === 'mail' ? `mail.${handle}` : 'totp'

  const inject = [{ ...how, secret }]
  const template = { method: 'POST', path: '/any/path?of=the-agent', json: { mine: 1 }, inject }
  const answer = await agent.post('/vault-use', { credential_id, ...template })

  expect(answer).toMatchObject({ status: 422, body: { error: 'template_refused' } })
  expect(site.received).toEqual([])
})

test.each([
  ['beside a text', '/otp', '<input name="otp"><input name="text">', 422],
  ['in a field that is called otherwise', '/notes', '<input name="status">', 403],
  ['in a field that has a value', '/otp', '<input name="otp" value="1">', 422],
  ['in a field that is marked', '/otp', '<input name="text" autocomplete="one-time-code">', 200],
  [
    'alone with hidden fields',
    '/otp',
    '<input type="hidden" name="csrf" value="c"><input name="otp" autocomplete="one-time-code">',
    200,
  ],
])('a code %s of a form answers as it does', async (_, action, fields, status) => {
  const site = await serverThat((response, { method }) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const signIn = '<form method="post"><input name="user"><input type="password" name="password">'
    response.end(
      method === 'GET' ? signIn : `<form method="post" action="${action}">${fields}</form>`,
    )
  })
  const agent = await world.agent('vault')
  const entry = { site: new URL(site.url).origin, password: 'canary-key-4711', totp }
  const credential_id = await entryOf(world, agent, entry)
  const { body } = await signInAt(world, agent, { credential_id })

  const order = { session: body['session'], form: 0, secret: 'totp' }
  const answer = await agent.post('/vault-session', order)

  expect(answer.status).toBe(status)
  expect(site.received.filter(({ url }) => url === action)).toHaveLength(status === 200 ? 1 : 0)
})
