/** Signing in works by the forms that sites serve, in sessions that the service keeps. */
import { expect, test } from 'vitest'
import { totpCode } from '../../shared/vault/entries/totp.ts'
import { openHonestSite } from '../support/honest-site.ts'
import { textWith } from '../support/matching.ts'
import { approveAsked, codeOf, entryOf, signInAt } from '../support/vault-rows.ts'
import { type Agent, type Answer, start } from '../support/world.ts'

const world = await start()
const site = await openHonestSite()
const password = 'Canary-1 horse "battery"'
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const

async function user() {
  const agent = await world.agent('vault')
  const given = { site: site.origin, username: 'ada@mail.example', password, totp }
  const credential_id = await entryOf(world, agent, given)
  const login = (path: string, fields?: object) =>
    signInAt(world, agent, { credential_id, path, fields })
  return { agent, credential_id, login }
}

function goOn(agent: Agent, { body }: Answer, step: object): Promise<Answer> {
  return agent.post('/vault-session', { session: body['session'], ...step })
}

function lastForm(): [string, string][] {
  const posted = site.received.findLast(({ method }) => method === 'POST')
  return [...new URLSearchParams(posted?.body.toString())]
}

test('a form is fetched, filled in and sent as a browser would, and the cookies stay here', async () => {
  const { login } = await user()

  const answer = await login('/login?next=/home', { remember: '1' })

  expect(answer).toMatchObject({
    status: 200,
    body: {
      filled: ['username', 'password'],
      response: { status: 200, url: `${site.origin}/login` },
    },
  })
  expect(lastForm()).toEqual([
    ['csrf', 'c-4711'],
    ['next', '/home'],
    ['username', 'ada@mail.example'],
    ['password', password],
    ['remember', '1'],
    ['go', 'in'],
  ])
  const { headers } = site.received.findLast(({ method }) => method === 'POST') ?? { headers: {} }
  expect(headers).toMatchObject({
    origin: site.origin,
    referer: `${site.origin}/login?next=/home`,
    cookie: textWith('sid='),
  })
  expect(JSON.stringify(answer.body)).not.toMatch(/canary|set-cookie/i)
})

test('a sign-in on two pages is done in one call', async () => {
  const { login } = await user()

  const answer = await login('/two-steps')

  expect(answer).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(lastForm()).toEqual([
    ['user[name]', 'ada@mail.example'],
    ['user[password]', password],
  ])
})

test('the agent goes on in the session, and codes go into the form that asks for one', async () => {
  const { agent, login, credential_id } = await user()
  const begun = await login('/login')
  const handle = await codeOf(world, agent, { value: '482913', hosts: ['127.0.0.1'] })

  const asked = await goOn(agent, begun, { path: '/otp' })
  const unasked = await goOn(agent, begun, { form: 0, secret: 'totp' })
  await approveAsked(world, credential_id)
  const first = world.world.now().getTime()
  const byClock = await goOn(agent, begun, { form: 0, secret: 'totp' })
  const codes = [first, world.world.now().getTime()].map((at) => totpCode(totp, at).code)
  const entered = lastForm()
  await goOn(agent, begun, { path: '/otp' })
  await goOn(agent, begun, { form: 0, secret: `mail.${handle}` })
  await approveAsked(world, credential_id)
  const byMail = await goOn(agent, begun, { form: 0, secret: `mail.${handle}` })

  expect(asked).toMatchObject({ status: 200, body: { filled: [], response: { status: 200 } } })
  expect(unasked).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
  expect(byClock).toMatchObject({ status: 200, body: { filled: ['code'] } })
  expect(codes).toContain(entered[0]?.[1])
  expect(byMail).toMatchObject({ status: 200, body: { filled: ['code'] } })
  expect(lastForm()).toEqual([['otp', '482913']])
  expect(JSON.stringify([byClock.body, byMail.body])).not.toMatch(/482913/)
})

test('ordinary forms are sent with what the agent gives and what the page has', async () => {
  const { agent, login } = await user()
  const begun = await login('/login')

  await goOn(agent, begun, { path: '/ticket' })
  const sent = await goOn(agent, begun, { form: 0, fields: { subject: 'Hello', body: 'A wish.' } })
  await goOn(agent, begun, { path: '/search' })
  const found = await goOn(agent, begun, { form: 0, fields: { q: 'a b' } })

  expect(sent).toMatchObject({ status: 200, body: { filled: [] } })
  expect(lastForm()).toEqual([
    ['subject', 'Hello'],
    ['kind', 'Wish'],
    ['body', 'A wish.'],
  ])
  expect(found).toMatchObject({ body: { response: { url: `${site.origin}/search?q=a+b` } } })
})

test.each([
  ['a field that the form does not have', '/profile', { fields: { admin: '1' } }],
  ['a code in a field for something else', '/profile', { secret: 'totp' }],
  ['a password of the owner', '/login', { secret: 'password' }],
  ['a form of a file', '/raw/page.html', {}],
])('%s is not sent in a session', async (_, path, filling) => {
  const { agent, login } = await user()
  const begun = await login('/login')
  await goOn(agent, begun, { path })
  const asked = site.received.length

  const answer = await goOn(agent, begun, { form: 0, ...filling })

  expect(answer).toMatchObject({ status: 422, body: { error: 'form_refused' } })
  expect(site.received).toHaveLength(asked)
})

test('a redirect is followed within the site, and never with the secret', async () => {
  const { agent, login } = await user()
  const begun = await login('/login')

  const away = await goOn(agent, begun, { path: '/away' })
  const moved = await goOn(agent, begun, { path: '/moved' })

  expect(away).toMatchObject({
    body: { response: { status: 302, location: 'https://evil.example/' } },
  })
  expect(moved).toMatchObject({ body: { response: { status: 200, url: `${site.origin}/note` } } })
})

test('a session is for the key that began it, and ends with entry, key, freeze and time', async () => {
  const gone = async (end: (made: Awaited<ReturnType<typeof user>>) => Promise<unknown>) => {
    const made = await user()
    const begun = await made.login('/login')
    await end(made)
    const { status } = await goOn(made.agent, begun, { path: '/note' })
    const { session } = begun.body
    const rows = await world.db.sql`
      select from private.vault_sessions where id = ${String(session)}`
    return [status, rows.length]
  }
  const { sql } = world.db
  const house = () => world.world.db.call('housekeeping_forget', {})

  const made = await user()
  const begun = await made.login('/login')
  const other = await goOn(await made.agent.withKey('full'), begun, { path: '/note' })

  expect(other).toMatchObject({ status: 404, body: { error: 'session_not_found' } })
  expect(await gone(async () => undefined)).toEqual([200, 1])
  expect(await gone(({ agent }) => agent.post('/account-freeze', {}))).toEqual([403, 0])
  expect(
    await gone(({ credential_id: id }) => sql`delete from private.vault_entries where id = ${id}`),
  ).toEqual([404, 0])
  expect(
    await gone(async ({ agent: { id } }) => {
      await sql`update private.credentials set revoked_at = private.clock() where account = ${id}`
      await sql`select private.close_requests(k, 'owner') from private.credentials k
        where account = ${id}`
    }),
  ).toEqual([401, 0])
  expect(
    await gone(async ({ agent: { id } }) => {
      await sql`update private.credentials set kind = 'oauth', digest = null where account = ${id}`
      await sql`select private.end_grant(k.id, 'replaced') from private.credentials k
        where account = ${id}`
    }),
  ).toEqual([401, 0])
  expect(
    await gone(async () => {
      await world.tick(3_601)
      await house()
    }),
  ).toEqual([404, 0])
})

test('with an Idempotency-Key a sign-in is sent once, and a repeat has its answer', async () => {
  const { agent, credential_id, login } = await user()
  await login('/login')
  const asked = site.received.length
  const begin = () => {
    const headers = { 'idempotency-key': 'login-1' }
    return agent.post('/vault-login', { credential_id, path: '/login' }, headers)
  }

  const answers = [...(await Promise.all([begin(), begin()])), await begin()]

  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(answers[0]).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(site.received.slice(asked).map(({ method }) => method)).toEqual(['GET', 'POST'])
})

test('of two steps at once one is kept, and the session goes on from it', async () => {
  const { agent, login } = await user()
  const begun = await login('/login')

  const steps = await Promise.all(
    ['/note', '/profile', '/ticket'].map((path) => goOn(agent, begun, { path })),
  )
  const next = await goOn(agent, begun, { path: '/search' })

  expect(steps.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(steps.filter(({ body }) => body['expires_at'] !== null).length).toBeGreaterThan(0)
  expect(next).toMatchObject({ status: 200, body: { response: { status: 200 } } })
})

test('what is frozen while the page is fetched gets no secret', async () => {
  const { agent, credential_id, login } = await user()
  await login('/login')
  const asked = site.received.length
  const late = world.worker({
    async fetch(input, init) {
      const answer = await fetch(input, init)
      if (new Request(input, init).url.endsWith('/login')) await agent.post('/account-freeze', {})
      return answer
    },
  })

  const answer = await late.post(agent, '/vault-login', { credential_id, path: '/login' })

  expect(answer).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  expect(site.received.slice(asked).map(({ method }) => method)).toEqual(['GET'])
})

test('nothing of a session can be read in the database', async () => {
  const { agent, login } = await user()
  await login('/login')

  const rows = await world.db.sql`select s::text as row from private.vault_sessions s`

  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify([rows, world.log])).not.toMatch(/canary|c-4711/i)
  const { body } = await (await agent.withKey('read')).get('/wallet-activity-list')
  expect(body['items']).toMatchObject([
    { type: 'secret_used', untrusted: { request: 'POST /login' } },
  ])
})
