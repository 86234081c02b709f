import { expect, test } from 'vitest'
import { linkFor, post } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const world = await start()
const path = '/create-account'
const password = 'seven green kettles'
const form = 'f0'.repeat(32)
/** Headers that a browser sends from one of our pages. */
const browser = {
  origin: 'http://localhost',
  'sec-fetch-site': 'same-origin',
  cookie: `other=1; __Host-aoa_form=${form}`,
}
let people = 0
const newEmail = () => `person${(people += 1)}@example.com`

function create(
  registration: string,
  alias: string,
  chosen: { password?: string; headers?: Record<string, string> } = {},
) {
  const body = { registration, alias, password: chosen.password ?? password, form }
  return post(world, path, body, { 'user-agent': 'a browser', ...(chosen.headers ?? browser) })
}

async function countOf(table: 'accounts' | 'wallets' | 'custody_keys' | 'owners' | 'credentials') {
  const [row] = await world.db
    .sql`select count(*)::int as count from ${world.db.sql(`private.${table}`)}`
  return Number(row?.['count'])
}

async function counts() {
  return {
    accounts: await countOf('accounts'),
    wallets: await countOf('wallets'),
    keys: await countOf('custody_keys'),
    owners: await countOf('owners'),
    credentials: await countOf('credentials'),
  }
}

test('opens an account whose key works, with mail identity and wallet', async () => {
  const email = newEmail()
  const answer = await create(await linkFor(world, email), ' First-One ')

  expect(answer).toMatchObject({
    status: 200,
    body: { alias: 'first-one', mail_address: 'first-one@agents.example' },
  })
  const headers = { authorization: `Bearer ${String(answer.body['api_key'])}` }
  const identity = await world.send('/get-identity', { headers })
  expect(identity).toMatchObject({
    status: 200,
    body: {
      account_id: answer.body['account_id'],
      alias: 'first-one',
      wallets: answer.body['wallets'],
      credential: { kind: 'api_key', scopes: ['pay'] },
    },
  })
  const [owner] = await world.db.sql`select email, password_hash from private.owners
    where account = ${String(answer.body['account_id'])}`
  expect(owner).toMatchObject({ email })
  expect(owner?.['password_hash']).toMatch(/^\$argon2id\$/)
})

test('tells the database no key, no link and no password', async () => {
  const link = await linkFor(world, newEmail())
  const { body } = await create(link, 'silent')
  const tables = await world.db.sql`select c.relname as name from pg_class c
    where c.relnamespace = 'private'::regnamespace and c.relkind = 'r'`
  for (const { name } of tables) {
    const rows = await world.db.sql`select t::text as row from ${world.db.sql(`private.${name}`)} t`
    const text = rows.map(({ row }) => String(row)).join('\n')
    for (const secret of [String(body['api_key']), link, password]) {
      expect(text.includes(secret), String(name)).toBe(false)
    }
  }
})

test('one link used at once opens one account', async () => {
  const link = await linkFor(world, newEmail())
  const before = await counts()

  const uses = ['race-a', 'race-b', 'race-c', 'race-d'].map((alias) => create(link, alias))
  const statuses = (await Promise.all(uses)).map(({ status }) => status)

  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 410, 410, 410])
  expect(await counts()).toEqual({
    accounts: before.accounts + 1,
    wallets: before.wallets + 1,
    keys: before.keys + 1,
    owners: before.owners + 1,
    credentials: before.credentials + 1,
  })
})

test('one alias wanted at once is given once, and the other link stays good', async () => {
  const links = [await linkFor(world, newEmail()), await linkFor(world, newEmail())]

  const answers = await Promise.all(links.map((link) => create(link, 'wanted')))

  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  const loser = links[answers.findIndex(({ status }) => status === 409)] ?? ''
  const lost = answers.find(({ status }) => status === 409)
  expect(lost?.body).toMatchObject({
    error: 'alias_unavailable',
    details: { reason: 'taken' },
  })
  expect(await create(loser, 'wanted-too')).toMatchObject({ status: 200 })
})

test.each([
  ['wanted', 'taken'],
  ['vvanted', 'similar'],
  ['supp0rt', 'reserved'],
  ['x', 'malformed'],
])('the alias %s is refused as %s', async (alias, reason) => {
  expect(await create(await linkFor(world, newEmail()), alias)).toMatchObject({
    status: 409,
    body: { error: 'alias_unavailable', details: { reason } },
  })
})

test('a mail address opens one account, whatever links it was given', async () => {
  const email = newEmail()
  const [first, second] = [await linkFor(world, email), await linkFor(world, email)]

  const answers = await Promise.all([create(first, 'mine-one'), create(second, 'mine-two')])

  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  expect(answers.find(({ status }) => status === 409)?.body['error']).toBe('account_exists')
})

test('a link is used once, and opens nothing after 30 minutes', async () => {
  const used = await linkFor(world, newEmail())
  await create(used, 'spent')
  const late = await linkFor(world, newEmail())
  await world.tick(1_800)

  for (const link of [used, late, 'A'.repeat(43)]) {
    expect(await create(link, 'another')).toMatchObject({
      status: 410,
      body: { error: 'registration_closed' },
    })
  }
})

test.each([
  ['short', 'at least 10'],
  ['password123', 'guessed first'],
  ['weak-alias', 'your own name'],
  ['x'.repeat(257), 'at most 256'],
])('the password %j is refused, and the link stays good', async (weak, words) => {
  const link = await linkFor(world, newEmail())
  const refused = await create(link, 'weak-alias', { password: weak })
  expect(refused).toMatchObject({ status: 422, body: { error: 'weak_password' } })
  expect(refused.body['message']).toContain(words)
})

const { origin, cookie } = browser
const site = (name: string) => ({ 'sec-fetch-site': name })
const bearer = { authorization: 'Bearer something' }
test.each([
  ['nothing that a browser sends', {}, 'browser_only'],
  ['a bearer token alone', bearer, 'browser_only'],
  ['a bearer token beside all else', { ...browser, ...bearer }, 'browser_only'],
  ['a cookie alone', { cookie }, 'browser_only'],
  ['no cookie', { origin, ...site('same-origin') }, 'foreign_form'],
  ['another cookie', { ...browser, cookie: `__Host-aoa_form=${'0'.repeat(64)}` }, 'foreign_form'],
  ['a cookie of another name', { ...browser, cookie: `aoa_form=${form}` }, 'foreign_form'],
  ['another origin', { ...browser, origin: 'http://evil.example' }, 'foreign_form'],
  ['another port', { ...browser, origin: 'http://localhost:81' }, 'foreign_form'],
  ['an origin that is null', { ...browser, origin: 'null' }, 'foreign_form'],
  ['a neighbour host', { ...browser, ...site('same-site') }, 'foreign_form'],
  ['another site', { ...browser, ...site('cross-site') }, 'foreign_form'],
  ['an address typed in', { ...browser, ...site('none') }, 'foreign_form'],
  ['another site without an origin', { cookie, ...site('cross-site') }, 'foreign_form'],
] as const)('refuses a request with %s', async (_name, headers, error) => {
  const link = await linkFor(world, newEmail())
  const answer = await create(link, 'refused-one', { headers })
  expect(answer).toMatchObject({ status: 403, body: { error } })
})

test('tells an agent to hand the link on', async () => {
  const answer = await create('A'.repeat(43), 'an-agent', { headers: {} })
  expect(answer.body['message']).toMatch(/Give registration_url to your user/)
})

test.each([
  ['an origin alone', { origin, cookie }],
  ['the way of Fetch Metadata alone', { cookie, ...site('same-origin') }],
])('lets a browser in that sends %s', async (name, headers) => {
  const link = await linkFor(world, newEmail())
  expect(await create(link, `browser-${name.length}`, { headers })).toMatchObject({ status: 200 })
})
