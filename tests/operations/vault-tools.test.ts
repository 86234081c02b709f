/** Logins in the vault as agents keep, list, use up and delete them, never seeing a secret. */
import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const world = await start()
const site = 'https://shop.example.com'

test('keeps a login and lists it without its secrets', async () => {
  const agent = await world.agent('vault')

  const stored = await agent.post('/vault-store', { site, username: 'me', password: 'hunter2' })
  const listed = await agent.get('/vault-list')

  expect(stored).toMatchObject({ status: 200, body: { site, username: 'me', version: 1 } })
  expect(listed.body).toMatchObject({
    credentials: [{ credential_id: stored.body['credential_id'], site, has_password: true }],
    next_cursor: null,
  })
  expect(JSON.stringify(listed.body)).not.toContain('hunter2')
})
