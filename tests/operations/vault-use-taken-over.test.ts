/**
 * A request with a secret leaves once under its Idempotency-Key. A call loses its claim to a repeat if
 * it waits in the database for over a minute before it is booked.
 */
import { expect, test } from 'vitest'
import { answering, serverThat } from '../support/http.ts'
import { textWith } from '../support/matching.ts'
import { approveDestination, entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()

test('a call that lost its claim sends nothing any more', async () => {
  const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  await approveDestination(world, credential_id, { name: 'pass', path: '/login' })
  const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]
  const order = { credential_id, method: 'POST', path: '/login', inject }
  const use = () => agent.post('/vault-use', order, { 'idempotency-key': 'once-1' })
  const waiting = async () => {
    const [row] = await world.db.sql<{ count: number }[]>`select count(*)::int from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%vault_begin_use%' and datname = current_database()`
    return row?.count ?? 0
  }
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  // Another session holds the row of the entry.
  const lock = world.db.sql.begin(async (sql) => {
    await sql`select from private.vault_entries where id = ${credential_id} for update`
    await held
  })

  const first = use()
  await expect.poll(waiting).toBe(1)
  await world.tick(61)
  const second = use()
  await expect.poll(waiting).toBe(2)
  release()
  const answers = await Promise.all([first, second])
  await lock

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
  expect(site.received).toHaveLength(1)
})

test('a sign-in of two forms goes on under its own claim', async () => {
  const site = await serverThat((response, { method, url }) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const [next, field] = method === 'GET' ? ['/login', 'text'] : ['/login/2', 'password']
    response.end(
      url === '/login/2'
        ? 'welcome'
        : `<form method="post" action="${next}"><input name="${field === 'text' ? 'username' : field}" type="${field}"></form>`,
    )
  })
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  await signInAt(world, agent, { credential_id })
  site.received.length = 0
  const headers = { 'idempotency-key': 'twice-1' }
  const login = () => agent.post('/vault-login', { credential_id, path: '/login' }, headers)

  const first = await login()
  const again = await login()

  expect(first).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(again.body).toEqual(first.body)
  expect(site.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /login',
    'POST /login',
    'POST /login/2',
    'GET /login/2',
  ])
})

test('a call whose worker died on the way is told as lost after two minutes, and made once', async () => {
  const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
  const { origin } = new URL(site.url)
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  await approveDestination(world, credential_id, { name: 'pass', path: '/login' })
  const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]
  const order = { credential_id, method: 'POST', path: '/login', inject }
  const key = { 'idempotency-key': 'gone-1' }
  const left = Promise.withResolvers<void>()
  // The worker sends its request with the secret, and neither hears the answer nor does anything else.
  const dying = world.worker({
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      if (new URL(answer.url).origin !== origin) return answer
      left.resolve()
      return new Promise(() => {})
    },
  })
  const hasty = world.worker({ pause: () => new Promise((resolve) => setImmediate(resolve)) })
  void dying.post(agent, '/vault-use', order, key)
  await left.promise

  const soon = await hasty.post(agent, '/vault-use', order, key)
  await world.tick(121)
  const later = await hasty.post(agent, '/vault-use', order, key)

  expect(soon).toMatchObject({ status: 409, body: { message: textWith('still running') } })
  expect(later).toMatchObject({ status: 409, body: { message: textWith('came to no answer') } })
  expect(site.received).toHaveLength(1)
})
