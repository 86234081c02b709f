/** Agents store, list, change and delete logins in the vault, and never see a secret. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { anyText, textWith } from '../support/matching.ts'
import { ownerOf } from '../support/owner.ts'
import { loginOf, seed, site, vaultFeedOf } from '../support/vault.ts'
import { type Agent, start } from '../support/world.ts'

const tests = await start()
const named = z.object({ username: z.string() })
const someId = '0f8fad5b-d9cb-469f-a165-70867728950e'

async function listed(agent: Agent, query = '') {
  const { body } = await agent.get(`/vault-list${query}`)
  return body['credentials']
}

test('a login that was kept is listed with what it has, and without what that is', async () => {
  const agent = await tests.agent('vault')
  const secrets = { password: 'hunter2-of-mine', totp_secret: seed, notes: 'first pet: Rex' }

  const stored = await agent.post('/vault-store', {
    ...secrets,
    site: 'Shop.Example.com/login?next=1',
    username: 'me@mail.example',
    fields: { pin: 'quince-0815' },
  })
  const list = await agent.get('/vault-list')

  const id = stored.body['credential_id']
  const named = { credential_id: id, site, username: 'me@mail.example', version: 1 }
  expect(stored).toMatchObject({ status: 200, body: named })
  const has = { has_password: true, has_totp: true, field_names: ['pin'] }
  const times = { created_at: anyText, updated_at: anyText, last_used_at: null }
  const made = { created_by_this_key: true, entered_by: anyText, asked_by: null }
  expect(list.body).toEqual({
    credentials: [{ ...named, ...has, ...times, ...made, takes_codes: false }],
    next_cursor: null,
  })
  expect(JSON.stringify([stored.body, list.body])).not.toMatch(/hunter2|JBSW|Rex|quince/)
  expect(await vaultFeedOf(tests, agent)).toEqual(['credential_stored'])
})

test.each([
  ['http://shop.example.com', 'https sites only'],
  ['https://me:pw@shop.example.com', 'user name or password'],
  ['https://10.0.0.1', 'IP address'],
  ['https://router.lan', 'not a public name'],
  ['http://aoa.example', 'https sites only'],
  ['https://aoa.example', 'not a public name'],
])('nothing is kept for %s', async (refused, sentence) => {
  const agent = await tests.agent('vault')

  const answer = await agent.post('/vault-store', { site: refused, password: 'x' })

  expect(answer).toMatchObject({ status: 422, body: { error: 'site_refused' } })
  expect(answer.body['message']).toContain(sentence)
  expect(await listed(agent)).toEqual([])
})

test('a change keeps what it does not name and takes away what it names as null', async () => {
  const agent = await tests.agent('vault')
  const fields = { pin: '1', puk: '2' }
  const id = await loginOf(agent, { totp_secret: seed, notes: 'n', fields })

  await loginOf(agent, { password: 'another' })
  expect(await listed(agent)).toMatchObject([
    { credential_id: id, version: 2, has_totp: true, field_names: ['pin', 'puk'] },
  ])

  await agent.post('/vault-store', {
    site,
    username: 'me',
    totp_secret: null,
    fields: { pin: null },
  })
  expect(await listed(agent)).toMatchObject([
    { credential_id: id, version: 3, has_password: true, has_totp: false, field_names: ['puk'] },
  ])
  expect(await vaultFeedOf(tests, agent)).toEqual([
    'credential_stored',
    'credential_replaced',
    'credential_replaced',
  ])
})

test('a change of a version that is over is a conflict and changes nothing', async () => {
  const agent = await tests.agent('vault')
  const login = { site, username: 'me', password: 'x' }
  const ofVersion1 = textWith('version 1')
  await loginOf(agent)

  const answers = []
  for (const version of [0, 2, 1, 1]) {
    answers.push((await agent.post('/vault-store', { ...login, version })).body)
  }

  expect(answers).toMatchObject([
    { error: 'conflict' },
    { error: 'conflict', message: ofVersion1 },
    { version: 2 },
    { error: 'conflict' },
  ])
  expect(await listed(agent)).toMatchObject([{ version: 2 }])
  expect((await agent.post('/vault-store', { ...login, username: '', version: 0 })).status).toBe(
    200,
  )
})

test.each([
  ['nothing to use', { notes: 'only words' }],
  ['a seed that is none', { totp_secret: 'not base32!' }],
])('%s is refused with a sentence', async (_, given) => {
  const agent = await tests.agent('vault')

  const answer = await agent.post('/vault-store', { site, ...given })

  expect(answer).toMatchObject({ status: 422, body: { error: 'credential_refused' } })
  expect(answer.body['message']).not.toMatch(/words|base32!/)
})

test('another key of the account may not change or delete it, the owner may, and then owns it', async () => {
  const maker = await tests.agent('vault')
  const other = await maker.withKey('full')
  const owner = await ownerOf(tests, maker)
  const unproven = await ownerOf(tests, maker, 60)
  const id = await loginOf(maker)
  const change = { site, username: 'me', password: 'of another' }
  const refused = { status: 403, body: { error: 'credential_protected' } }

  expect(await other.post('/vault-store', change)).toMatchObject(refused)
  expect(await other.post('/vault-generate', { credential_id: id })).toMatchObject(refused)
  expect(await other.post('/vault-delete', { credential_id: id })).toMatchObject(refused)
  expect(await listed(other)).toMatchObject([{ version: 1, created_by_this_key: false }])

  const early = tests.world.vault?.store({ credential: unproven.credential, entry: change })
  expect(await early).toMatchObject({ refusal: 'proof_required' })
  expect(await unproven.call('delete_vault_entry', { entry: id })).toEqual({
    refused: textWith('proof_required'),
  })
  const stored = tests.world.vault?.store({ credential: owner.credential, entry: change })
  expect(await stored).toMatchObject({ credential_id: id, version: 2 })
  expect(await maker.post('/vault-store', change)).toMatchObject(refused)
  expect(await owner.call('delete_vault_entry', { entry: id })).toHaveLength(1)
  expect(await listed(maker)).toEqual([])
})

test('the database keeps a key from the login of another, whatever it was asked before', async () => {
  const maker = await tests.agent('vault')
  const other = await maker.withKey('full')
  const id = await loginOf(maker)

  const [answer] = await tests.db.sql`
    select c.kept from private.credentials k, api.vault_commit_store(k.digest, ${id}, 1, ${site}, 'me',
      '{}', true, false, '{}', 'credential_replaced') c where k.account = ${other.id} and k.label = 'full'`

  expect(answer).toEqual({ kept: false })
  expect(await listed(maker)).toMatchObject([{ version: 1, created_by_this_key: true }])
})

test("a stranger's login is as one that does not exist", async () => {
  const stranger = await tests.agent('full')
  const id = await loginOf(stranger, { totp_secret: seed })
  const agent = await tests.agent('full')

  for (const path of ['/vault-totp', '/vault-generate', '/vault-delete']) {
    const [theirs, nobodys] = [
      await agent.post(path, { credential_id: id }),
      await agent.post(path, { credential_id: someId }),
    ]
    expect(theirs, path).toMatchObject({ status: 404, body: { error: 'credential_not_found' } })
    expect({ ...theirs.body, request_id: '' }).toEqual({ ...nobodys.body, request_id: '' })
  }
  expect(await listed(stranger)).toMatchObject([{ credential_id: id, version: 1 }])
})

/** Computes the code of this seed by RFC 6238, independently of the product. */
function codeAt(seconds: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(seconds / 30)))
  const digest = createHmac('sha1', Buffer.from('48656c6c6f21deadbeef', 'hex'))
    .update(counter)
    .digest()
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

test('the code of the moment is told, with the seconds that it stands, and the seed never', async () => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent, { totp_secret: seed })

  const before = tests.world.now().getTime() / 1000
  const { status, body } = await agent.post('/vault-totp', { credential_id: id })
  const after = tests.world.now().getTime() / 1000

  expect(status).toBe(200)
  expect([codeAt(before), codeAt(after)]).toContain(body['code'])
  expect(body).toMatchObject({ credential_id: id, site })
  expect(Number(body['seconds_left'])).toBeGreaterThan(0)
  expect(JSON.stringify(body)).not.toContain(seed)
  expect(await vaultFeedOf(tests, agent)).toEqual(['credential_stored', 'totp_code_given'])
})

test('a login without a TOTP secret has no code, and nothing is noted of it', async () => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent)

  const answer = await agent.post('/vault-totp', { credential_id: id })

  expect(answer).toMatchObject({ status: 422, body: { error: 'credential_refused' } })
  expect(await vaultFeedOf(tests, agent)).toEqual(['credential_stored'])
  expect(await listed(agent)).toMatchObject([{ last_used_at: null }])
})

test('a login that was deleted is gone from the database', async () => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent)

  const answer = await agent.post('/vault-delete', { credential_id: id })
  const again = await agent.post('/vault-delete', { credential_id: id })

  expect(answer).toMatchObject({ status: 200, body: { credential_id: id } })
  expect(again).toMatchObject({ status: 404, body: { error: 'credential_not_found' } })
  expect(await tests.db.sql`select from private.vault_entries where id = ${id}`).toHaveLength(0)
  expect(await vaultFeedOf(tests, agent)).toEqual(['credential_stored', 'credential_deleted'])
})

test('lists go by pages and by site, and tell each login once', async () => {
  const agent = await tests.agent('read')
  const maker = await agent.withKey('vault')
  for (let at = 0; at < 7; at += 1) await loginOf(maker, { username: `user-${at}` })
  const other = await loginOf(maker, { site: 'https://other.example.com' })
  const seen: unknown[] = []

  let cursor = ''
  for (let pages = 0; pages < 9 && cursor !== 'null'; pages += 1) {
    const query = `?limit=3${cursor && `&cursor=${cursor}`}`
    const { body } = await agent.get(`/user-site-credentials${query}`)
    seen.push(...[body['credentials']].flat())
    // A login created or changed meanwhile does not shift the remaining pages.
    await loginOf(maker, { username: 'user-5', password: `at ${cursor}` })
    cursor = String(body['next_cursor'])
  }

  expect(
    z
      .array(named)
      .parse(seen)
      .map(({ username }) => username),
  ).toEqual(['me', ...[6, 5, 4, 3, 2, 1, 0].map((at) => `user-${at}`)])
  expect(await listed(maker, '?site=other.example.com')).toMatchObject([{ credential_id: other }])
  expect(await listed(maker, '?site=nobody.example.com')).toEqual([])
})
