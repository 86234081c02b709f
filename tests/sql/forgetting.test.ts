/** What anybody can have written down by asking does not stay for ever. */
import { expect, test } from 'vitest'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
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

  await keepHouse(world)

  await expect(guess()).rejects.toThrow('rate_limited')
})

test('buckets that ran empty and networks of old sessions are forgotten', async () => {
  await signInAs(tests, await openPerson(tests))
  await db.sql`update private.rate_buckets set arrives_at = arrives_at - interval '1 day'`
  const before = await counts()
  await tests.tick(80 * day)
  await keepHouse(world)
  const kept = await counts()
  await tests.tick(11 * day)
  await keepHouse(world)

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
    await keepHouse(world)
    return db.sql`select from private.idempotent_answers`
  }

  await tests.tick(day - 60)
  const before = await left()
  await tests.tick(61)

  expect(before).toHaveLength(1)
  expect(await left()).toHaveLength(0)
})
