/** Concurrent changes of the vault lose nothing and stay within its limits. */
import { expect, test } from 'vitest'
import { feedOf, ownerOf } from '../support/owner.ts'
import { openSession, orders, stepThrough } from '../support/sessions.ts'
import { loginOf, seed, site } from '../support/vault.ts'
import { type Agent, start } from '../support/world.ts'

const tests = await start()
const inParallel = <T>(times: number, work: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, at) => work(at)))

async function secretOf(agent: Agent, entry: string) {
  const { credential } = await ownerOf(tests, agent)
  const read = await tests.world.vault?.read({ credential, entry })
  if (!read || !('secret' in read) || !read.secret) throw new Error(JSON.stringify(read))
  return read.secret
}

test('first logins of an account that come at once are sealed under one key', async () => {
  const agent = await tests.agent('vault')

  const ids = await inParallel(12, (at) => loginOf(agent, { username: `user-${at}` }))

  const secrets = await Promise.all(ids.map((id) => secretOf(agent, id)))
  expect(secrets.map(({ password }) => password)).toEqual(ids.map(() => 'a password of mine'))
  expect(
    await tests.db.sql`select from private.account_keys where account = ${agent.id}`,
  ).toHaveLength(1)
})

test('changes of one login that come at once all count, or hear that they do not', async () => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent)

  const answers = await inParallel(12, (at) =>
    agent.post('/vault-store', { site, username: 'me', fields: { [`field${at}`]: `${at}` } }),
  )

  const kept = answers.flatMap(({ status }, at) => (status === 200 ? [at] : []))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.filter(({ body }) => body['error'] !== 'conflict')).toEqual([])
  expect(kept.length).toBeGreaterThanOrEqual(6)
  const versions = answers.flatMap(({ body }) => (body['version'] ? [Number(body['version'])] : []))
  expect(new Set(versions)).toEqual(new Set(kept.map((_, at) => at + 2)))
  const { fields } = await secretOf(agent, id)
  expect(fields).toEqual(Object.fromEntries(kept.map((at) => [`field${at}`, `${at}`])))
})

test('of changes of the same version one is kept', async () => {
  const agent = await tests.agent('vault')
  await loginOf(agent)

  const answers = await inParallel(12, (at) =>
    agent.post('/vault-store', { site, username: 'me', password: `${at}`, version: 1 }),
  )

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ body }) => body['error'] === 'conflict')).toHaveLength(11)
})

test('an account has 1,000 logins and not one more, however many come at once', async () => {
  const agent = await tests.agent('vault')
  await loginOf(agent)
  await tests.db.sql`
    insert into private.vault_entries (id, account, site, username, version, sealed, has_password,
      has_totp, field_names)
    select gen_random_uuid(), account, site, n::text, 1, '{}', true, false, '{}'
      from private.vault_entries, generate_series(1, 995) n where account = ${agent.id}`

  const answers = await inParallel(10, (at) =>
    agent.post('/vault-store', { site, username: `late-${at}`, password: 'x' }),
  )

  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(6)
  expect(refused[0]).toMatchObject({ status: 409, body: { error: 'vault_full' } })
  expect((await agent.post('/vault-store', { site, username: 'me', notes: 'n' })).status).toBe(200)
})

/** Returns the steps of a call in its own transaction. A refusal shows in what the call leaves behind. */
const calling = (call: string) => [
  [
    'begin',
    `do $$ begin perform ${call}; exception when sqlstate 'PT403' or sqlstate 'PT429' then null; end $$`,
  ],
  ['commit'],
]

async function keysOf(agent: Agent): Promise<string[]> {
  const keys = await tests.db.sql<{ digest: string }[]>`
    select digest from private.credentials where account = ${agent.id} order by created_at`
  return keys.map(({ digest }) => digest)
}

/** Runs two calls through every order of their steps, with new calls each time. */
async function inEveryOrder(prepare: () => Promise<[string, string]>, look: () => Promise<void>) {
  const sessions = [await openSession(tests.db), await openSession(tests.db)]
  for (const order of orders(new Map(sessions.map((session) => [session, 2])))) {
    const calls = await prepare()
    const steps = new Map(sessions.map((session, at) => [session, calling(calls[at] ?? '')]))
    await stepThrough(tests.db.sql, order, steps)
    await Promise.all(sessions.map((session) => session.answers()))
    await look()
  }
}

test('in every order of their steps, what a freeze has not stopped is older than the freeze', async () => {
  let agent = await tests.agent('vault')
  const feeds = new Set<string>()
  await inEveryOrder(
    async () => {
      agent = await tests.agent('vault')
      const id = await loginOf(agent, { totp_secret: seed })
      const [key] = await keysOf(agent)
      return [`api.vault_open_totp('${key}', '${id}')`, `api.freeze_account('${key}', 1)`]
    },
    async () => void feeds.add((await feedOf(tests.db, agent)).join()),
  )

  expect([...feeds].toSorted()).toEqual([
    'credential_stored,account_frozen',
    'credential_stored,totp_code_given,account_frozen',
  ])
})

test('in every order of their steps, two keys read no more secrets an hour than one', async () => {
  let agent = await tests.agent('full')
  const read: number[] = []
  await inEveryOrder(
    async () => {
      agent = await tests.agent('full')
      const id = await loginOf(await agent.withKey('pay'))
      await tests.db.sql`update private.credentials set reads_secrets = true
        where account = ${agent.id}`
      await tests.db.sql`insert into private.activities (account, category, type, summary)
        select ${agent.id}, 'vault', 'secret_read', 'x' from generate_series(1, 29)`
      const calls = (await keysOf(agent)).map((key) => `api.vault_read_entry('${key}', '${id}')`)
      return [calls[0] ?? '', calls[1] ?? '']
    },
    async () => {
      const feed = await feedOf(tests.db, agent)
      read.push(feed.filter((type) => type === 'secret_read').length)
    },
  )

  expect(new Set(read)).toEqual(new Set([30]))
})
