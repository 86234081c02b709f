/** Room of each key and app, against which all that it stores counts, so that none fills the database. */
import { expect, test } from 'vitest'
import { reportGrowth } from '../../scripts/operator/reports.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted } from '../support/ledger.ts'
import { askMandate } from '../support/mandates.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'
import { textWith } from '../support/matching.ts'
import type { Agent, Answer } from '../support/world.ts'

const market = await openMarket()
const { db } = market
const { payer, payee } = await acquainted(market)
const shop = { resource_url: market.merchant.v2Url }

/** Returns the bytes of each table and index but those of buckets, which a restart empties. */
async function stored(): Promise<Map<string, number>> {
  const rows = await db.sql<{ of: string; bytes: number }[]>`
    select c.oid::text as of, pg_relation_size(c.oid)::float8 as bytes from pg_class c
     where c.relnamespace in ('private'::regnamespace, 'pg_toast'::regnamespace) and c.relkind in ('r', 'i', 't')
       and c.relname !~ '^rate_buckets'`
  return new Map(rows.map(({ of, bytes }) => [of, bytes]))
}

/** Returns by how much all grew, without the page that each began. */
function grownSince(before: Map<string, number>, after: Map<string, number>): number {
  const grown = [...after].map(([of, bytes]) => bytes - (before.get(of) ?? 0) - pageBytes)
  return grown.reduce((sum, bytes) => sum + Math.max(0, bytes), 0)
}

const pageBytes = 8192

/** Returns the bytes that were charged to all keys. */
async function charged(): Promise<number> {
  const [row] = await db.sql<{ bytes: number }[]>`
    select coalesce(sum(extract(epoch from b.arrives_at - clock_timestamp()) * t.bytes_a_day / 86400), 0)::float8
      as bytes from private.rate_buckets b cross join private.growth_terms t where b.bucket like 'grows:%'`
  return row?.bytes ?? 0
}

const times = 40
const long = 'x'.repeat(200)
type Call = (agent: Agent, number: number) => Promise<Answer>
const kinds: Record<string, Call> = {
  'refused requests with an Idempotency-Key': (agent, number) =>
    agent.post(
      transferPath,
      { ...orderTo(payee), amount: '0' },
      { 'idempotency-key': `${long}${number}` },
    ),
  transfers: (agent, number) =>
    agent.post(
      transferPath,
      { ...orderTo(payee), amount: '0.01', memo: long },
      { 'idempotency-key': `${number}` },
    ),
  'prepared purchases': (agent, number) =>
    prepare(agent, shop, { 'idempotency-key': `prepared-${number}` }),
  purchases: async (agent) => execute(agent, attemptOf(await prepare(agent, shop))),
  logins: (agent, number) =>
    agent.post('/vault-store', {
      site: 'https://shop.example.com',
      username: `${number}`,
      password: long,
    }),
  'generated passwords': (agent, number) =>
    agent.post('/vault-generate', { site: 'https://other.example.com', username: `${number}` }),
}

test.each(Object.entries(kinds))('%s are charged in full', async (_, call) => {
  await call(payer, -1)
  const [before, debt] = [await stored(), await charged()]
  for (let number = 0; number < times; number += 1) await call(payer, number)

  expect((await charged()) - debt).toBeGreaterThan(grownSince(before, await stored()))
})

test('a key that stored all that it may is told when to go on, and nobody else is', async () => {
  const agent = await market.agent('pay')
  const other = await agent.withKey('pay')
  await db.sql`update private.growth_terms set bytes_at_once = 20000, bytes_a_day = 86400`
  await db.sql`delete from private.rate_buckets where bucket like 'grows:%'`
  const store = (user: Agent, username: string) =>
    user.post('/vault-store', { site: 'https://shop.example.com', username, password: long })

  const answers: Answer[] = []
  while (answers.at(-1)?.status !== 429) answers.push(await store(agent, `${answers.length}`))

  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(5)
  expect(answers.at(-1)?.body).toMatchObject({ error: 'rate_limited', hint: textWith('stored') })
  const seconds = Number(answers.at(-1)?.body['retry_after_seconds'])
  expect(seconds).toBeGreaterThan(0)
  expect((await agent.get('/get-identity')).status).toBe(200)
  expect((await store(other, 'its own')).status).toBe(200)
  const mandate = await askMandate(market, other)
  await db.sql`update private.rate_buckets set arrives_at = clock_timestamp() + interval '7 hours'
    where bucket like 'grows:%'`
  const revoked = await other.post(
    '/payment-mandate-revoke',
    { mandate_id: mandate.id },
    { 'idempotency-key': 'once' },
  )
  expect([(await store(other, 'more')).status, revoked.status]).toEqual([429, 200])
  await db.sql`update private.rate_buckets set arrives_at = clock_timestamp() + interval '5 hours'
    where bucket like 'grows:%'`
  expect((await store(agent, 'later')).status).toBe(200)
})

test('of what was bought 64 MB are kept, and the oldest go first', async () => {
  const attempt = attemptOf(await prepare(payer, { ...shop, memo: 'large' }))
  await db.sql`insert into private.delivered_pieces (payment, answer, place, body_base64, budget, created_at)
    select p.id, md5(a::text)::uuid, n, repeat('A', 524288), p.key, now() + a * interval '1 minute'
      from private.payments p, generate_series(1, 5) a, generate_series(1, 32) n where p.id = ${attempt}`

  await db.sql`select private.forget_answers(p.key) from private.payments p where p.id = ${attempt}`

  const left = await db.sql<
    { pieces: number }[]
  >`select answer, count(*)::integer as pieces from private.delivered_pieces
    group by answer order by max(created_at)`
  expect(left.map(({ pieces }) => pieces)).toEqual([32, 32, 32, 32])
})

test('the operator sets how much each key may store', async () => {
  expect(await reportGrowth(db.sql, '200')).toEqual([{ mb_a_day: 200, mb_at_once: 133 }])
  await expect(reportGrowth(db.sql, '0')).rejects.toThrow('1 to 999')
  await reportGrowth(db.sql, '999')
  const keyed = (key: string) =>
    payer.post(transferPath, { ...orderTo(payee), amount: '0' }, { 'idempotency-key': key })
  expect([(await keyed('one')).status, (await keyed('two')).status]).toEqual([400, 400])
})
