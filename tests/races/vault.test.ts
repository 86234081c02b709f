/** Changes of the vault that come at once: none is lost, none is more than allowed. */
import { expect, test } from 'vitest'
import { ownerOf } from '../support/owner.ts'
import { loginOf, site } from '../support/vault.ts'
import type { Agent } from '../support/world.ts'
import { start } from '../support/world.ts'

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
  expect(refused.map(({ body }) => body['error'])).toEqual(refused.map(() => 'conflict'))
  expect(kept.length).toBeGreaterThanOrEqual(6)
  const versions = answers.flatMap(({ status, body }) => (status === 200 ? [body['version']] : []))
  expect(versions.toSorted()).toEqual(kept.map((_, at) => at + 2).toSorted())
  const { fields } = await secretOf(agent, id)
  expect(fields).toEqual(Object.fromEntries(kept.map((at) => [`field${at}`, `${at}`])))
})

test('of changes of the same version one is kept', async () => {
  const agent = await tests.agent('vault')
  await loginOf(agent)

  const answers = await inParallel(12, (at) =>
    agent.post('/vault-store', { site, username: 'me', password: `${at}`, version: 1 }),
  )

  const statuses = answers.map(({ status }) => status).toSorted()
  expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 409)])
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

test('after a freeze was answered nothing is told or changed', async () => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent, { totp_secret: 'JBSWY3DPEHPK3PXP' })
  let frozen = false
  const late: number[] = []

  await inParallel(40, async (at) => {
    if (at === 20) {
      await agent.post('/account-freeze', {})
      frozen = true
      return
    }
    const isLate = frozen
    const { status } = await agent.post('/vault-totp', { credential_id: id })
    if (isLate) late.push(status)
  })

  const { status } = await agent.post('/vault-totp', { credential_id: id })
  expect([...late, status].filter((one) => one === 200)).toEqual([])
  const [after] = await tests.db.sql<{ count: number }[]>`
    select count(*)::int from private.activities a
     where a.account = ${agent.id} and a.type = 'totp_code_given'
       and a.id > (select max(f.id) from private.activities f
         where f.account = a.account and f.type = 'account_frozen')`
  expect(after?.count).toBe(0)
})
