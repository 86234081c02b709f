/** Codes and refresh tokens have one winner when many clients use them at once. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  codeFor,
  connect,
  redeem,
  refreshWith,
  register,
  serve,
  statusWith,
} from '../support/oauth.ts'
import { start } from '../support/world.ts'

const served = await serve(await start({ connections: 20 }))
const { tests } = served
const rounds = 20

const times = <T>(count: number, what: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => what(at)))

test('a code that 20 redeem at once has one winner, in every round', async () => {
  const agent = await tests.agent('read')
  const winners = []
  for (let round = 0; round < rounds; round += 1) {
    const form = await codeFor(served, agent, await register(served, { client_name: `${round}` }))
    const answers = await times(20, () => redeem(served, form))
    winners.push(answers.filter(({ status }) => status === 200).length)
    // The winner may be the thief, so its tokens are revoked.
    const won = answers.find(({ status }) => status === 200)?.body['access_token']
    expect(await statusWith(served, won)).toBe(401)
  }

  expect(winners).toEqual(Array.from({ length: rounds }, () => 1))
  const [left] = await tests.db.sql`select count(*)::integer as n from private.access_tokens`
  expect(left).toEqual({ n: 0 })
})

test('40 refreshes at once have one successor, and none fails', async () => {
  const app = await connect(served, await tests.agent('read'))

  const answers = await times(40, () => refreshWith(served, app.client, app.refresh))

  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 200))
  expect(new Set(answers.map(({ body }) => body['refresh_token'])).size).toBe(1)
  const access = answers.map(({ body }) => z.string().parse(body['access_token']))
  expect(new Set(access).size).toBe(40)
  const [family] = await tests.db.sql`
    select count(*) filter (where used_at is null)::integer as living, count(*)::integer as members
      from private.oauth_refresh_tokens
     where granted = (select granted from private.access_tokens t
       join private.oauth_grants g on g.credential = t.granted where g.client_id = ${app.client}
       limit 1)`
  expect(family).toEqual({ living: 1, members: 2 })
})

test('refreshes that meet in the database wait for one another and have one successor', async () => {
  const app = await connect(served, await tests.agent('read'))
  const { sql } = tests.db
  const waits = () => sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  let answers: ReturnType<typeof refreshWith>[] = []

  await sql.begin(async (session) => {
    await session`select from private.oauth_refresh_tokens where used_at is null for update`
    answers = Array.from({ length: 8 }, () => refreshWith(served, app.client, app.refresh))
    await expect.poll(async () => (await waits()).length).toBe(8)
  })

  const all = await Promise.all(answers)
  expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect(new Set(all.map(({ body }) => body['refresh_token'])).size).toBe(1)
})

test('a late thief and the app refresh at once, and either way the family ends', async () => {
  for (let round = 0; round < 5; round += 1) {
    const app = await connect(served, await tests.agent('read'))
    const first = await refreshWith(served, app.client, app.refresh)
    await tests.tick(31)

    const [, thief] = await times(2, (at) =>
      refreshWith(served, app.client, at === 0 ? first.body['refresh_token'] : app.refresh),
    )

    expect(thief?.status).toBe(400)
    const live = await tests.db.sql`
      select from private.credentials k join private.oauth_grants g on g.credential = k.id
       where g.client_id = ${app.client} and k.revoked_at is null`
    expect(live).toHaveLength(0)
  }
})

test('however many codes of one app are redeemed at once, one grant is left', async () => {
  const agent = await tests.agent('read')
  const client = await register(served)
  const forms: Record<string, string>[] = []
  for (let count = 0; count < 10; count += 1) forms.push(await codeFor(served, agent, client))

  const answers = await times(10, (at) => redeem(served, forms[at] ?? {}))

  const statuses = await Promise.all(
    answers.map(({ body }) => statusWith(served, body['access_token'])),
  )
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 9 }, () => 401)])
})

test('codes of many apps that are redeemed at once leave no account with more than 20', async () => {
  const agent = await tests.agent('read')
  const forms: Record<string, string>[] = []
  await tests.tick(600)
  for (let count = 0; count < 25; count += 1) {
    forms.push(await codeFor(served, agent, await register(served)))
  }

  const answers = await times(25, (at) => redeem(served, forms[at] ?? {}))

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
})
