/** Freezing, deleting, revoking and withdrawing a destination end a use: a password not sent yet stays. */
import { expect, test } from 'vitest'
import { askedFor } from '../support/held.ts'
import { serverThat } from '../support/http.ts'
import { ownerOf } from '../support/owner.ts'
import { keyIdOf } from '../support/vault.ts'
import { approveDestination, entryOf, signInAt } from '../support/vault-rows.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
const also = [{ secret: 'username', name: 'user' }]
const destination = { kind: 'form', page: '/login', name: 'pw1', path: '/login' } as const
const ends: [string, (agent: Agent, entry: string) => Promise<unknown>][] = [
  ['a freeze', (agent) => agent.post('/account-freeze', {})],
  [
    'the end of the login',
    async (agent, entry) => (await ownerOf(world, agent)).call('delete_vault_entry', { entry }),
  ],
  [
    'the end of the key',
    async (agent) => {
      const key = await keyIdOf(world, agent, 'vault')
      await world.db
        .sql`update private.credentials set revoked_at = private.clock() where id = ${key}`
    },
  ],
  [
    'the end of the destination',
    (_, entry) => world.db.sql`delete from private.vault_destinations where entry = ${entry}`,
  ],
]

test.each(ends)('after %s no password leaves', async (_, end) => {
  let go = () => {}
  const ended = new Promise<void>((resolve) => {
    go = resolve
  })
  const site = await serverThat(
    (response, { method }) =>
      void (async () => {
        if (method === 'GET') await ended
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end(
          '<form method="post"><input name="user"><input type="password" name="pw1"></form>',
        )
      })(),
  )
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1-horse' })
  await approveDestination(world, credential_id, { ...destination, also })

  const login = agent.post('/vault-login', { credential_id, path: '/login' })
  await expect.poll(() => site.received.length).toBe(1)
  await end(agent, credential_id)
  go()
  const { status } = await login

  expect(status).toBeGreaterThanOrEqual(400)
  expect(site.received.map(({ body }) => body.toString()).join()).not.toContain('Canary')
})

const signIn =
  '<form method="post"><input name="user"><input type="password" name="password"></form>'
const code = '<form method="post" action="/otp"><input name="otp"></form>'

test.each<[string, (agent: Agent, session: string) => Promise<unknown>]>([
  ['its account was frozen', (agent) => agent.post('/account-freeze', {})],
  [
    'it was ended',
    (_, session) => world.db.sql`delete from private.vault_sessions where id = ${session}`,
  ],
  ['its hour was over', () => world.tick(3_601)],
])('no code leaves in a session after %s, though the account is open again', async (_, end) => {
  const site = await serverThat((response, { method }) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(method === 'GET' ? signIn : code)
  })
  const agent = await world.agent('vault')
  const entry = { site: new URL(site.url).origin, password: 'Canary-1-horse', totp }
  const credential_id = await entryOf(world, agent, entry)
  const begun = await signInAt(world, agent, { credential_id })
  const session = String(begun.body['session'])
  const sent = site.received.length
  const late = world.worker({
    async fetch(input, init) {
      if (askedFor(input, init) === 'vault_begin_use') {
        await end(agent, session)
        await world.db.sql`update private.accounts set frozen_at = null where id = ${agent.id}`
      }
      return fetch(input, init)
    },
  })

  const step = await late.post(agent, '/vault-session', { session, secret: 'totp' })

  expect(begun.status).toBe(200)
  expect(step).toMatchObject({ status: 404, body: { error: 'session_not_found' } })
  expect(site.received).toHaveLength(sent)
})
