/** An app asks, the owner consents, and the code becomes tokens once. */
import { expect, test } from 'vitest'
import { newToken } from '../../shared/auth/access-token.ts'
import { denyAccess, grantAccess } from '../../shared/oauth/token.ts'
import {
  ask,
  asking,
  codeFor,
  consent,
  read,
  redeem,
  redirectUri,
  register,
  serve,
  sessionOf,
  statusWith,
} from '../support/oauth.ts'
import { feedOf } from '../support/owner.ts'
import { openPerson } from '../support/person.ts'
import { start } from '../support/world.ts'

const tests = await start()
const served = await serve(tests)
const client = await register(served)
const refused = { status: 400, body: { error: 'invalid_grant' } }

test('a code becomes tokens that act for the account with the scopes that were given', async () => {
  const agent = await tests.agent('read')
  const { verifier, params } = asking(client, { scope: 'pay vault offline_access' })

  const back = await consent(served, agent, params)
  const form = {
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    client_id: client,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  }
  const { status, body, headers } = await redeem(served, form)
  const identity = await ask(served, '/get-identity', {
    headers: { authorization: `Bearer ${String(body['access_token'])}` },
  })

  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    state: 'the state of the app',
    iss: `${served.url}/oauth`,
  })
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { token_type: 'Bearer', expires_in: 300, scope: 'vault pay' },
  })
  expect(headers.get('cache-control')).toBe('no-store')
  expect(identity.body).toMatchObject({
    account_id: agent.id,
    credential: { label: 'app.example', scopes: ['vault', 'pay'] },
  })
  expect(await feedOf(tests.db, agent)).toEqual(['app_connected'])
})

test('an access token ends after 15 minutes, and after 5 where it can do more than look on', async () => {
  const agent = await tests.agent('read')
  const looks = (await redeem(served, await codeFor(served, agent, client))).body['access_token']
  const other = await register(served)
  const pays = await redeem(served, await codeFor(served, agent, other, { scope: 'full' }))
  const payToken = pays.body['access_token']

  await tests.tick(295)
  expect([await statusWith(served, looks), await statusWith(served, payToken)]).toEqual([200, 200])
  await tests.tick(10)
  expect([await statusWith(served, looks), await statusWith(served, payToken)]).toEqual([200, 401])
  await tests.tick(600)
  expect(await statusWith(served, looks)).toBe(401)
})

test('a token for read does not pay, and is told which scope it lacks', async () => {
  const agent = await tests.agent('read')
  const { body } = await redeem(served, await codeFor(served, agent, client))

  const answer = await ask(served, '/wallet-custodial-transfer', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${String(body['access_token'])}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })

  expect(answer).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
  expect(answer.headers.get('www-authenticate')).toBe(
    `Bearer error="insufficient_scope", scope="pay", ` +
      `resource_metadata="${served.url}/.well-known/oauth-protected-resource", ` +
      `DPoP algs="ES256 EdDSA Ed25519", scope="pay", ` +
      `resource_metadata="${served.url}/.well-known/oauth-protected-resource"`,
  )
})

test('a request without a token is told where to get one, and hears of no error', async () => {
  const { status, headers } = await ask(served, '/get-identity')
  const wrong = await ask(served, '/get-identity', { headers: { authorization: 'Bearer nothing' } })

  expect(status).toBe(401)
  expect(headers.get('www-authenticate')).toMatch(
    /^Bearer scope="read", resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-/,
  )
  expect(wrong.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", scope=/)
})

test('a code that is used again ends what it was given for, and the owner is told', async () => {
  const person = await openPerson(tests)
  const { agent } = person
  const form = await codeFor(served, agent, client)
  const { body } = await redeem(served, form)

  const again = await redeem(served, form)
  const third = await redeem(served, form)

  expect([again, third]).toMatchObject([refused, refused])
  expect(await statusWith(served, body['access_token'])).toBe(401)
  expect(await feedOf(tests.db, agent)).toEqual(['app_connected', 'app_token_reused'])
  const mails = (await tests.mails(person.email)).map(({ subject }) => subject)
  expect(mails.toSorted()).toEqual([
    'An app was given access to your account',
    'The access of an app was ended',
  ])
})

test.each([
  ['another client', async () => ({ client_id: await register(served) })],
  ['another redirect address', () => ({ redirect_uri: 'https://app.example/other' })],
  ['another verifier', () => ({ code_verifier: 'v'.repeat(43) })],
])('a code is used up by %s', async (_, differs) => {
  const form = await codeFor(served, await tests.agent('read'), client)

  const wrong = await redeem(served, { ...form, ...(await differs()) })

  expect([wrong, await redeem(served, form)]).toMatchObject([refused, refused])
})

test('a code is good for a minute', async () => {
  const agent = await tests.agent('read')
  const [early, late] = [await codeFor(served, agent, client), await codeFor(served, agent, client)]

  await tests.tick(55)
  expect((await redeem(served, early)).status).toBe(200)
  await tests.tick(6)
  expect(await redeem(served, late)).toMatchObject(refused)
})

test('a new grant to an app takes the place of its former one when its code is redeemed', async () => {
  const agent = await tests.agent('read')
  const first = await redeem(served, await codeFor(served, agent, client))
  const form = await codeFor(served, agent, client)

  const before = await statusWith(served, first.body['access_token'])
  const second = await redeem(served, form)

  expect(before).toBe(200)
  expect(await statusWith(served, first.body['access_token'])).toBe(401)
  expect(await statusWith(served, second.body['access_token'])).toBe(200)
})

test('an account has 20 connected apps at most', async () => {
  const agent = await tests.agent('read')
  await tests.db.sql`
    with placed as (
      insert into private.credentials (account, kind, label, shown, scopes, expires_at)
      select ${agent.id}, 'oauth', 'App', 'app.example', '{read}', 'infinity'
        from generate_series(1, 20) returning id
    )
    insert into private.oauth_grants (credential, client_id, redirect_host)
    select id, id, 'app.example' from placed`

  await expect(codeFor(served, agent, client)).rejects.toThrow('too_many_apps')
})

test('to let an app in needs a fresh proof of the owner, whatever it may do', async () => {
  const agent = await tests.agent('read')
  const session = await sessionOf(served, agent, 11)
  const grant = async (scope: string) => {
    const asked = await read(served, asking(client, { scope }).params)
    if (asked.kind !== 'asked') throw new Error(asked.kind)
    return grantAccess(session, asked.request, { scopes: asked.request.scopes, days: 30 })
  }

  for (const scope of ['read', 'pay', 'full', 'vault', 'read vault']) {
    await expect(grant(scope)).rejects.toThrow('proof_required')
  }
})

test('the owner gives less than was asked, never more', async () => {
  const agent = await tests.agent('read')
  const narrow = await codeFor(served, agent, client, { scope: 'full' }, { scopes: ['read'] })

  expect((await redeem(served, narrow)).body['scope']).toBe('read')
  const wide = codeFor(served, agent, client, { scope: 'read' }, { scopes: ['pay'] })
  await expect(wide).rejects.toThrow('invalid_request')
})

test('a frozen account lets no app in, by a code that was given before neither', async () => {
  const agent = await tests.agent('full')
  const form = await codeFor(served, agent, client)
  await agent.post('/account-freeze', {})

  expect(await redeem(served, form)).toMatchObject(refused)
  await expect(codeFor(served, agent, client)).rejects.toThrow('account_frozen')
})

test('an app without refresh tokens has access for the minutes of one token', async () => {
  const agent = await tests.agent('read')
  const once = await register(served, { grant_types: ['authorization_code'] })

  const { body } = await redeem(served, await codeFor(served, agent, once))
  // The clock stands still unless somebody writes: without this, all 15 minutes may still be left.
  await tests.tick(1)
  const [grant] = await tests.db.sql`
    select expires_at - private.clock() < interval '15 minutes' as soon from private.credentials
     where account = ${agent.id} and kind = 'oauth'`

  expect(body).not.toHaveProperty('refresh_token')
  expect(grant).toEqual({ soon: true })
})

test('the owner’s no is told to the app with its state', async () => {
  const asked = await read(served, asking(client).params)
  if (asked.kind !== 'asked') throw new Error(asked.kind)

  const back = new URL(denyAccess(served.world, asked.request))

  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: 'access_denied',
    state: 'the state of the app',
    iss: `${served.url}/oauth`,
  })
})

test.each(['client_id', 'redirect_uri', 'code_verifier', 'scope'])(
  'what no %s may hold is refused as such',
  async (name) => {
    for (const odd of ['\0', '\ud800', '\u00e9']) {
      const form = { grant_type: 'authorization_code', client_id: client, code_verifier: 'v' }

      const answer = await redeem(served, {
        ...form,
        code: newToken(tests.world, 'code'),
        [name]: odd,
      })

      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    }
  },
)

const nothing = { max_per_payment_usd_micros: '0', max_per_day_usd_micros: '0' }

test.each([
  ['is disconnected', 'owner_disconnect_apps', (grant: string) => ({ app: grant })],
  ['has its caps lowered', 'owner_set_caps', (grant: string) => ({ holder: grant, ...nothing })],
] as const)('a code that an app holds when it %s is spent', async (_, deed, args) => {
  const [agent, client] = [await tests.agent('read'), await register(served)]
  const caps = { maxPerPaymentUsdMicros: 9n, maxPerDayUsdMicros: 9n }
  const codes = [1, 2].map(() => codeFor(served, agent, client, { scope: 'pay' }, caps))
  const [first = {}, second = {}] = await Promise.all(codes)
  expect((await redeem(served, first)).status).toBe(200)
  const [grant] = await tests.db.sql<{ id: string }[]>`select id from private.credentials
    where account = ${agent.id} and kind = 'oauth'`

  await (await sessionOf(served, agent)).db.run(deed, args(grant?.id ?? ''))

  expect(await redeem(served, second)).toMatchObject({ body: { error: 'invalid_grant' } })
})
