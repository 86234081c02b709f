/** Logins work by the specification's path, and secrets are read only by keys that the owner allows. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { anyNumber, textLike, textWith } from '../support/matching.ts'
import { feedOf, ownerOf } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import { keyIdOf, letRead, loginOf, owned, seed, site, vaultFeedOf } from '../support/vault.ts'
import { type Agent, start } from '../support/world.ts'

const tests = await start()
const path = '/user-site-credentials'

/** Returns an agent with a login, whose key may read secrets if `reads` is set. */
async function account(reads: boolean, given: object = {}) {
  const agent = await tests.agent('pay')
  const id = await loginOf(agent, given)
  if (reads) await letRead(tests, agent, 'pay')
  return { agent, id, read: () => agent.get(`${path}?credential_id=${id}`) }
}

const sixDigits = textLike(/^\d{6}$/)
const summaryOfRead = textLike(/^The secrets of the login of \S+ were read with the key aoa_/)
const page = z.object({ credentials: z.tuple([z.looseObject({ credential_id: z.uuid() })]) })
const only = (body: unknown) => page.parse(body).credentials[0]

test('it keeps and lists as the vault tools do', async () => {
  const agent = await tests.agent('pay')

  const stored = await agent.post(path, { site, username: 'me', password: 'x' })
  const list = await agent.get(`${path}?site=shop.example.com`)
  const tools = await agent.get('/vault-list')

  expect(stored).toMatchObject({ status: 200, body: { site, username: 'me', version: 1 } })
  expect(list.body).toEqual(tools.body)
  expect(only(list.body)).toMatchObject({ credential_id: stored.body['credential_id'] })
})

test('a key may not read secrets unless it was let: it is told so, and nothing is noted', async () => {
  const { agent, id, read } = await account(false)

  const { status, body } = await read()

  expect(status).toBe(200)
  expect(only(body)).toMatchObject({ credential_id: id, site, secret_readable: false })
  expect(only(body)).not.toHaveProperty('secret')
  expect(JSON.stringify(body)).not.toContain('a password of mine')
  expect(await vaultFeedOf(tests, agent)).toEqual(['credential_stored'])
})

test('a key that was let reads all secrets of an entry but the seed, and each time is noted', async () => {
  const fields = { pin: '4711' }
  const { agent, read } = await account(true, { totp_secret: seed, notes: 'n', fields })

  const { body } = await read()
  await read()

  expect(only(body)).toMatchObject({
    secret_readable: true,
    secret: {
      password: 'a password of mine',
      notes: 'n',
      fields,
      totp: { code: sixDigits, seconds_left: anyNumber },
    },
  })
  expect(JSON.stringify(body)).not.toContain(seed)
  expect(await vaultFeedOf(tests, agent)).toEqual([
    'credential_stored',
    'secret_read',
    'secret_read',
  ])
  const feed = await agent.get('/wallet-activity-list?category=vault&limit=1')
  expect(feed.body['items']).toMatchObject([
    {
      summary: summaryOfRead,
      ref: { kind: 'credential', id: only(body).credential_id },
    },
  ])
})

test('a list holds no secret, whoever may read', async () => {
  const { agent } = await account(true)

  const list = await agent.get(`${path}?site=shop.example.com`)

  expect(only(list.body)).not.toHaveProperty('secret')
})

test('the owner is told of the first secret of each site, once', async () => {
  const { agent, read } = await account(true, { totp_secret: seed })
  const told = await owned(tests, agent)
  const other = await loginOf(agent, { site: 'https://other.example.com', totp_secret: seed })
  const subject = textWith('was used at a new site')

  await read()
  await read()
  expect(await told()).toEqual([subject])

  await agent.post('/vault-totp', { credential_id: other })
  await agent.get(`${path}?credential_id=${other}`)
  expect(await told()).toEqual([subject, subject])
})

test('keys of an account read 30 secrets an hour, and hear when there is room again', async () => {
  const { agent, read, id } = await account(true)
  const other = await agent.withKey('full')
  await letRead(tests, agent, 'full')
  const readByOther = () => other.get(`${path}?credential_id=${id}`)
  const reads = Array.from({ length: 20 }, () => [read(), readByOther()])
  const together = await Promise.all(reads.flat())
  const refused = together.filter(({ status }) => status === 429)

  expect(refused).toHaveLength(10)
  expect(refused[0]).toMatchObject({ body: { error: 'rate_limited' } })
  const seconds = Number(refused[0]?.body['retry_after_seconds'])
  expect(seconds).toBeGreaterThan(3590)
  expect(await ownerReads(agent, id)).toHaveProperty('secret')

  await tests.tick(seconds + 1)
  expect(await read()).toMatchObject({ status: 200 })
})

test('a frozen account has no secret read by a key, and still lists', async () => {
  const { agent, id, read } = await account(true)
  await agent.post('/account-freeze', {})

  const answer = await read()

  expect(answer).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  expect(await agent.get(path)).toMatchObject({ status: 200 })
  expect(await ownerReads(agent, id)).toHaveProperty('secret')
})

async function ownerReads(agent: Agent, entry: string, provenMinutesAgo = 0) {
  const { credential } = await ownerOf(tests, agent, provenMinutesAgo)
  return tests.world.vault?.read({ credential, entry })
}

test('the owner sees secrets after a fresh proof, without a mail, and never on hold', async () => {
  const { agent, id } = await account(false)
  const told = await owned(tests, agent)

  expect(await ownerReads(agent, id)).toMatchObject({ secret: { password: 'a password of mine' } })
  expect(await ownerReads(agent, id, 11)).toMatchObject({ secret_readable: false })
  await tests.db.sql`select private.begin_hold(${agent.id})`
  expect(await ownerReads(agent, id)).toMatchObject({ secret_readable: false })
  expect(await told()).toEqual([])
  expect(await vaultFeedOf(tests, agent)).toEqual(['credential_stored', 'secret_shown'])
})

test('letting a key read takes a fresh proof; taking it back takes none, and counts at once', async () => {
  const { agent, read } = await account(false)
  const key = await keyIdOf(tests, agent, 'pay')
  const stale = await ownerOf(tests, agent, 11)
  const order = (reads: boolean) => ({ key, reads })

  const refused = await stale.call('owner_set_reads_secrets', order(true))
  expect(refused).toEqual({ refused: 'proof_required' })
  expect(only((await read()).body)).toMatchObject({ secret_readable: false })

  await letRead(tests, agent, 'pay')
  expect(only((await read()).body)).toMatchObject({ secret_readable: true })
  const identity = await agent.get('/get-identity')
  expect(identity.body['credential']).toMatchObject({ reads_secrets: true })

  expect(await stale.call('owner_set_reads_secrets', order(false))).toEqual([{ label: 'pay' }])
  expect(only((await read()).body)).toMatchObject({ secret_readable: false })
  const feed = await feedOf(tests.db, agent)
  expect(feed.filter((type) => type === 'secret_reading_changed')).toHaveLength(2)
})

test("no owner lets another account's key read", async () => {
  const { agent, read } = await account(false)
  const stranger = await ownerOf(tests, await tests.agent('full'))
  const key = await keyIdOf(tests, agent, 'pay')

  const answer = await stranger.call('owner_set_reads_secrets', { key, reads: true })

  expect(answer).toEqual([])
  expect(only((await read()).body)).toMatchObject({ secret_readable: false })
})

test('showing codes to agents takes a fresh proof, hiding them again takes none', async () => {
  const agent = await tests.agent('read')
  const [owner, stale] = [await ownerOf(tests, agent), await ownerOf(tests, agent, 11)]
  const shown = async () => {
    const [row] = await tests.db.sql<{ shows_codes: boolean }[]>`
      select shows_codes from private.accounts where id = ${agent.id}`
    return row?.shows_codes
  }

  const refused = await stale.call('owner_set_shows_codes', { shows: true })
  expect([refused, await shown()]).toEqual([{ refused: 'proof_required' }, false])
  await owner.call('owner_set_shows_codes', { shows: true })
  expect(await shown()).toBe(true)
  await stale.call('owner_set_shows_codes', { shows: false })
  expect(await shown()).toBe(false)
  expect(await feedOf(tests.db, agent)).toEqual(['code_reading_changed', 'code_reading_changed'])
})

test('a key that takes the place of another takes over its logins and what it may read', async () => {
  const { agent, id } = await account(true)
  const old = await keyIdOf(tests, agent, 'pay')
  const owner = await ownerOf(tests, agent)
  const digest = randomBytes(32).toString('hex')
  const order = { digest, shown: 'aoa_test_new', expires_in_days: 9, overlap_hours: 1 }
  await owner.call('owner_rotate_key', { key: old, ...order })

  const read = await tests.world.vault?.read({ credential: digest, entry: id })

  expect(read).toMatchObject({ secret_readable: true, created_by_this_key: true })
  expect(await agent.post('/vault-delete', { credential_id: id })).toMatchObject({ status: 403 })
})

test('the same Idempotency-Key keeps a login once, and the database holds no digest of it', async () => {
  const agent = await tests.agent('vault')
  const login = { site, username: 'me', password: '1234' }
  const headers = { 'idempotency-key': 'once' }

  const first = await agent.post(path, login, headers)
  const again = await agent.post(path, login, headers)
  const other = await agent.post(path, { ...login, password: '1235' }, headers)

  expect(first).toMatchObject({ status: 200, body: { version: 1 } })
  expect(again.body).toEqual(first.body)
  expect(other).toMatchObject({ status: 422, body: { error: 'idempotency_mismatch' } })
  const [kept] = await tests.db.sql`
    select request_digest = encode(sha256(${JSON.stringify(login)}::bytea), 'hex') as is_plain
      from private.idempotent_answers where account = ${agent.id}`
  expect(kept).toEqual({ is_plain: false })
})
