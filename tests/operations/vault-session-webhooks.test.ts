/**
 * A mailed code goes only into the field of a sign-in that asks for one. A webhook form also has a field
 * called token, and its site sends that value to an address that the agent names.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { codeOf, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const agents = await serverThat((response) => void response.writeHead(204).end())

test.each([
  ['an integration that is shown to who made it', 'note'],
  ['a webhook with a token', 'url'],
])('a code goes unasked into no field of %s', async (_, beside) => {
  const shown: string[] = []
  const site = await serverThat(
    (response, { method, body }) =>
      void (async () => {
        const sent = new URLSearchParams(body.toString())
        if (method === 'POST') {
          shown.push(sent.get('token') ?? '')
          const target = sent.get('url') ?? ''
          const headers = { 'x-token': sent.get('token') ?? '' }
          if (URL.canParse(target)) await fetch(target, { headers })
        }
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end(`<form method="post"><input name="${beside}"><input name="token"></form>`)
      })(),
  )
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  const handle = await codeOf(world, agent, { value: '482913', hosts: ['127.0.0.1'] })
  const begun = await agent.post('/vault-login', { credential_id, path: '/hooks/new' })
  const session = begun.body['session']

  const fields = { [beside]: agents.url }
  await agent.post('/vault-session', { session, form: 0, fields, secret: `mail.${handle}` })

  expect(agents.received.map(({ headers }) => headers['x-token'])).not.toContain('482913')
  expect(shown).not.toContain('482913')
})
