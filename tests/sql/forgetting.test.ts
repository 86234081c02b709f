/** Rows that any caller can cause do not stay for ever. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { waitingPayment } from '../support/consents.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const tests = await start()
const { world, db } = tests
const day = 86_400

async function counts() {
  const [row] = await db.sql<{ buckets: number; networks: number }[]>`
    select (select count(*)::integer from private.rate_buckets where bucket like 'sign-in:%')
      as buckets, (select count(*)::integer from private.sessions) as networks`
  return row
}

test('a limit that is used up is not forgotten before it is whole again', async () => {
  const guess = () => world.db.call('login_find', { email: 'a@b.example', client: '192.0.2.1' })
  for (let count = 0; count < 10; count += 1) await guess()

  await runHousekeeping(world)

  await expect(guess()).rejects.toThrow('rate_limited')
})

test('buckets that ran empty and networks of old sessions are forgotten', async () => {
  await signInAs(tests, await openPerson(tests))
  await db.sql`update private.rate_buckets set arrives_at = arrives_at - interval '1 day'`
  const before = await counts()
  await tests.tick(80 * day)
  await runHousekeeping(world)
  const kept = await counts()
  await tests.tick(11 * day)
  await runHousekeeping(world)

  expect([before?.networks, kept?.networks]).toEqual([1, 1])
  expect(before?.buckets).toBeGreaterThan(0)
  expect(kept?.buckets).toBe(0)
  expect((await counts())?.networks).toBe(0)
})

test('an answer is kept for its 24 hours and then forgotten', async () => {
  const agent = await tests.agent('pay')
  const args = {
    credential: '',
    needed: 'pay',
    operation: 'any',
    key: 'once',
    request_digest: 'digest',
  }
  const [known] = await db.sql<{ digest: string }[]>`
    select digest from private.credentials where account = ${agent.id}`
  const credential = known?.digest ?? ''
  await world.db.call('claim_idempotency', { ...args, credential })
  const { operation, key } = args
  await world.db.call('keep_answer', { credential, operation, key, status: 200, body: '{}' })
  const left = async () => {
    await runHousekeeping(world)
    return db.sql`select from private.idempotent_answers`
  }

  await tests.tick(day - 60)
  const before = await left()
  await tests.tick(61)

  expect(before).toHaveLength(1)
  expect(await left()).toHaveLength(0)
})

test('every table has an age and a reason, and every rule a table', async () => {
  const rows = await db.sql`
    select coalesce(t.relname, r.of_table) as table from
      (select c.relname::text from pg_class c where c.relkind in ('r', 'p')
         and c.relnamespace = 'private'::regnamespace) t
      full join (select distinct of_table from private.retention) r on r.of_table = t.relname
     where t.relname is null or r.of_table is null`
  const unexplained = await db.sql`select of_table from private.retention where length(reason) < 10`

  expect([...rows, ...unexplained]).toEqual([])
})

test('rows that are old are found by an index', async () => {
  const rows = await db.sql`
    select r.of_table, r.ages_from from private.retention r
     where r.kept is not null and r.of_table <> 'rate_buckets' and not exists (
       select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indrelid = ('private.' || r.of_table)::regclass and 't.' || a.attname = r.ages_from)`

  expect([...rows]).toEqual([])
})

test('what is many is forgotten in batches, and in one run', async () => {
  await db.sql`insert into private.oauth_proofs (digest)
    select encode(sha256(n::text::bytea), 'hex') from generate_series(1, 2500) n`
  await tests.tick(301)
  const one = await world.db.call('housekeeping_forget', { batch: 1_000 })
  const left = await db.sql`select from private.oauth_proofs`
  await runHousekeeping(world)

  expect(one).toEqual([{ deleted: 1_000 }])
  expect(left).toHaveLength(1_500)
  expect(await db.sql`select from private.oauth_proofs`).toHaveLength(0)
})

test('a payment that nobody authorized goes after 30 days, with its items in the feed', async () => {
  const payer = await tests.agent('pay')
  const declined = await waitingPayment(tests, payer)
  const signed = await waitingPayment(tests, payer)
  await db.sql`update private.payments set state = 'declined' where id = ${declined}`
  await db.sql`update private.payments set state = 'signed', consent_level = 'agent_asserted',
    authorized_at = private.clock(), valid_before = 0 where id = ${signed}`
  const left = () => db.sql`select p.id, count(a.id)::integer as items from private.payments p
    left join private.activities a on a.payment = p.id
   where p.account = ${payer.id} group by p.id order by p.created_at`

  await tests.tick(30 * day)
  await runHousekeeping(world)
  const before = await left()
  await tests.tick(day)
  await runHousekeeping(world)

  expect([...before]).toEqual([
    { id: declined, items: 1 },
    { id: signed, items: 1 },
  ])
  expect([...(await left())]).toEqual([{ id: signed, items: 1 }])
})
