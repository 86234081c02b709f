/** A destination for a form that the site serves covers no request that the agent writes, and vice versa. */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse "battery"'

/** Serves a site where members write pages with forms. Its API publishes a secret sent with `share`. */
async function openSite() {
  const board: string[] = []
  const site = await serverThat((response, { method, body }) => {
    const sent = new URLSearchParams(body.toString())
    if (method === 'POST' && sent.has('share')) board.push(sent.get('pw1') ?? '')
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<form method="post" action="/api/secrets"><input type="password" name="pw1">
      <input type="hidden" name="share" value="everybody"></form>`)
  })
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })
  return { ...site, board, agent, credential_id }
}

test('a destination of a request covers no form of the site', async () => {
  const { board, agent, credential_id } = await openSite()
  await approveDestination(world, credential_id, { name: 'pw1', path: '/api/secrets' })

  // The agent wrote this form as a member, and the site serves it.
  await agent.post('/vault-login', { credential_id, path: '/wiki/mallory' })

  expect(board).toEqual([])
})

test('and a destination of a form covers no request of the agent', async () => {
  const { received, agent, credential_id } = await openSite()
  // The first try of the form asks the owner for this destination, and the owner approves it unchanged.
  const begun = await agent.post('/vault-login', { credential_id, path: '/wiki/mallory' })
  expect(begun.body['error']).toBe('destination_not_approved')
  await world.db.sql`update private.vault_destinations set approved_at = private.clock()
    where entry = ${credential_id}`
  const asked = received.length

  const inject = [{ where: 'form_field', name: 'pw1', secret: 'password' }]
  const answer = await agent.post('/vault-use', {
    credential_id,
    method: 'POST',
    path: '/api/secrets',
    inject,
  })

  expect([answer.status, received.length - asked]).toEqual([403, 0])
})
