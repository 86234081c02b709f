/** A stored signature and an expiring reservation are counted correctly in every order of their steps. */
import { expect, test } from 'vitest'
import { randomUUID } from '../support/seed.ts'
import { openSession, orders, type Session, type Step, stepThrough } from '../support/sessions.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const payer = await world.agent('pay')
const [key] = await sql<{ id: string; digest: string }[]>`
  select id, digest from private.credentials where account = ${payer.id} and kind = 'api_key'`
const keeping = await openSession(world.db)
const waiting = await openSession(world.db)
const deciding = await openSession(world.db)

/** Inserts a payment that uses the whole limit on the agent's word. */
async function enter(): Promise<string> {
  const id = randomUUID()
  await sql`
    insert into private.payments (id, account, key, device, kind, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at)
    values (${id}, ${payer.id}, ${key?.id ?? ''}, 'a device', 'x402', 84532,
      ${`0x${'1'.repeat(40)}`}, ${payer.address}, ${`0x${'2'.repeat(40)}`}, 1, 10000000,
      private.clock() + interval '1 hour')`
  return id
}

const authorizing = (payment: string) => `
  select c.outcome from private.accounts a, api.custody_authorize('${key?.digest ?? ''}',
    '${payment}', 'agent_asserted', a.facts_version, '9000', 0,
    extract(epoch from private.clock())::bigint + 600, 45,
    cost_wei => '1') c
   where a.id = '${payer.id}'`
const recording = (payment: string) => `
  select r.kept from private.payments p join private.credentials k on k.id = p.key,
    api.custody_record(k.digest, p.id, p.authorized_at, '0x${payment.replaceAll('-', '').padStart(64, '0')}', '0x') r
   where p.id = '${payment}'`

test('what may still be signed is counted by whoever decides, in whatever order it comes', async () => {
  await sql`update private.accounts set asserted_daily_limit_usd_micros = 10000000
    where id = ${payer.id}`
  const steps = (first: string, next: string): [Session, Step[]][] => [
    [keeping, [['begin', recording(first)], ['commit']]],
    [waiting, [["do $$ begin perform testing.move_clock('20 seconds'); end $$"]]],
    [deciding, [['begin', authorizing(next)], ['commit']]],
  ]
  const every = orders(new Map(steps('', '').map(([session, own]) => [session, own.length])))
  const seen = new Set<string>()

  for (const order of every) {
    await sql`delete from private.activities`
    await sql`delete from private.payments`
    await world.db.setClock(new Date('2027-03-01T12:00:00Z'))
    const [first, next] = [await enter(), await enter()]
    await sql.unsafe(authorizing(first))
    await stepThrough(sql, order, new Map(steps(first, next)))
    const [kept] = await keeping.answers()
    const [decided] = await deciding.answers()
    await waiting.answers()
    seen.add([kept?.['kept'], decided?.['outcome']].join(' '))
  }

  expect([...seen].toSorted()).toEqual(['false authorized', 'false stale', 'true stale'])
})
