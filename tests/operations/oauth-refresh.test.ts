/** A family of refresh tokens has one valid member; reuse of an older one ends the family. */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { connect, postForm, refreshWith, register, serve, statusWith } from '../support/oauth.ts'
import { feedOf } from '../support/owner.ts'
import { openPerson } from '../support/person.ts'
import { start } from '../support/world.ts'

const tests = await start()
const served = await serve(tests)
const refused = { status: 400, body: { error: 'invalid_grant' } }
const day = 86_400

test('a refresh token is used once and gives the one that follows', async () => {
  const app = await connect(served, await tests.agent('read'))

  const first = await refreshWith(served, app.client, app.refresh)
  const second = await refreshWith(served, app.client, first.body['refresh_token'])

  const tokens = [app.refresh, first.body['refresh_token'], second.body['refresh_token']]
  expect(new Set(tokens).size).toBe(3)
  expect(await statusWith(served, second.body['access_token'])).toBe(200)
})

test('who did not get the answer asks again within 30 seconds and gets the same token', async () => {
  const app = await connect(served, await tests.agent('read'))

  const first = await refreshWith(served, app.client, app.refresh)
  await tests.tick(25)
  const again = await refreshWith(served, app.client, app.refresh)

  expect(again.body['refresh_token']).toBe(first.body['refresh_token'])
  expect(again.body['access_token']).not.toBe(first.body['access_token'])
  expect(await statusWith(served, again.body['access_token'])).toBe(200)
})

test('a refresh token that comes again later ends the family, and the owner is told', async () => {
  const person = await openPerson(tests)
  const app = await connect(served, person.agent)
  const first = await refreshWith(served, app.client, app.refresh)

  await tests.tick(31)
  const stolen = await refreshWith(served, app.client, app.refresh)

  expect(stolen).toMatchObject(refused)
  expect(await refreshWith(served, app.client, first.body['refresh_token'])).toMatchObject(refused)
  expect(await statusWith(served, first.body['access_token'])).toBe(401)
  expect(await feedOf(tests.db, person.agent)).toEqual(['app_connected', 'app_token_reused'])
  const subjects = (await tests.mails(person.email)).map(({ subject }) => subject)
  expect(subjects).toContain('The access of an app was ended')
  const { text } = await (await signedIn(tests, person.agent)).visit('/web/apps')
  expect(text).toContain('Its token was used twice')
})

test('a refresh token that comes again after its successor was used ends the family', async () => {
  const app = await connect(served, await tests.agent('read'))
  const first = await refreshWith(served, app.client, app.refresh)
  const second = await refreshWith(served, app.client, first.body['refresh_token'])

  expect(await refreshWith(served, app.client, app.refresh)).toMatchObject(refused)
  expect(await statusWith(served, second.body['access_token'])).toBe(401)
})

test('a refresh token is of no use to another client, and is not used up by it', async () => {
  const app = await connect(served, await tests.agent('read'))
  const other = await register(served)

  expect(await refreshWith(served, other, app.refresh)).toMatchObject(refused)
  expect((await refreshWith(served, app.client, app.refresh)).status).toBe(200)
})

test('a refresh can ask for less than was granted, never for more', async () => {
  const app = await connect(served, await tests.agent('read'), 'pay')

  const more = await refreshWith(served, app.client, app.refresh, { scope: 'full' })
  const less = await refreshWith(served, app.client, app.refresh, { scope: 'read' })
  const whole = await refreshWith(served, app.client, less.body['refresh_token'])

  expect(more).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
  expect(less.body).toMatchObject({ scope: 'read', expires_in: 900 })
  expect(whole.body).toMatchObject({ scope: 'pay', expires_in: 300 })
})

test('a refresh token lasts 30 days from its last use, and the grant as long as was said', async () => {
  const left = await connect(served, await tests.agent('read'))
  const used = await connect(served, await tests.agent('read'))
  let token: unknown = used.refresh
  for (let month = 0; month < 3; month += 1) {
    await tests.tick(29 * day)
    const answer = await refreshWith(served, used.client, token)
    expect(answer.status).toBe(200)
    token = answer.body['refresh_token']
  }

  expect(await refreshWith(served, left.client, left.refresh)).toMatchObject(refused)
  await tests.tick(3 * day + 60)
  expect(await refreshWith(served, used.client, token)).toMatchObject(refused)
})

test('what refreshes all the time is slowed down', async () => {
  const app = await connect(served, await tests.agent('read'))
  const answers = []
  for (let count = 0; count < 64; count += 1) {
    answers.push((await refreshWith(served, app.client, app.refresh)).status)
  }

  expect(answers.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 200))
  expect(answers).toContain(429)
})

test('a refresh token that is revoked ends all, a revoked access token itself alone', async () => {
  const agent = await tests.agent('read')
  const app = await connect(served, agent)
  const next = await refreshWith(served, app.client, app.refresh)
  const revoke = (token: unknown) => postForm(served, '/oauth/revoke', { token: String(token) })

  const one = await revoke(app.access)

  expect([one.status, one.body]).toEqual([200, {}])
  expect(await statusWith(served, app.access)).toBe(401)
  expect(await statusWith(served, next.body['access_token'])).toBe(200)
  expect((await revoke(next.body['refresh_token'])).status).toBe(200)
  expect(await statusWith(served, next.body['access_token'])).toBe(401)
  expect(await refreshWith(served, app.client, next.body['refresh_token'])).toMatchObject(refused)
  expect(await feedOf(tests.db, agent)).toEqual(['app_connected', 'app_disconnected'])
})

test('revoking what is not known is answered as revoking what was', async () => {
  const app = await connect(served, await tests.agent('read'))

  for (const token of ['nothing', app.access.replace('_at_', '_rt_')]) {
    expect(await postForm(served, '/oauth/revoke', { token })).toMatchObject({
      status: 200,
      body: {},
    })
  }
  expect((await postForm(served, '/oauth/revoke', {})).body).toMatchObject({
    error: 'invalid_request',
  })
})

test('a client that was forgotten is told to register again', async () => {
  const app = await connect(served, await tests.agent('read'))
  await tests.db.sql`delete from private.oauth_clients where id = ${app.client}`
  const unknown = app.refresh

  await postForm(served, '/oauth/revoke', { token: unknown })
  await tests.db.sql`delete from private.oauth_refresh_tokens`

  expect(await refreshWith(served, app.client, unknown)).toMatchObject({
    status: 401,
    body: { error: 'invalid_client' },
  })
})
