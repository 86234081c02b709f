/** The sums behind the limits are those of the payments, whatever becomes of them. */
import { beforeAll, expect, test } from 'vitest'
import { seeded } from '../support/seed.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let agents: Agent[]
beforeAll(async () => {
  world = await start()
  agents = [await world.agent('pay'), await world.agent('pay')]
})

const random = seeded()
const pick = <One>(from: readonly One[]): One => {
  const one = from[random.between(0, from.length - 1)]
  if (one === undefined) throw new Error('there is nothing to pick')
  return one
}
const payees = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`)
const levels = ['none', 'agent_asserted', 'user_session']

/** Inserts a payment in any state whose signature ended or ends within two days. */
async function pay(agent: Agent): Promise<void> {
  const state = pick(['authorized', 'signed', 'settled', 'settled', 'released'])
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_after, valid_before,
      tx_hash, block_hash, finality, authorization_nonce, signature)
    select k.account, k.id, 'd', 'transfer', ${state}, 84532, ${payees[0] ?? ''}, ${agent.address},
      ${pick(payees)}, 1, ${random.between(1, 1_000_000)}, private.clock(), ${pick(levels)},
      private.clock(), 0, extract(epoch from private.clock())::bigint + ${random.between(-172_800, 600)},
      hash, hash, ${state === 'settled' ? 'finalized' : 'included'}, hash, '0x'
    from private.credentials k, lateral (select
      '0x' || encode(sha256(gen_random_uuid()::text::bytea), 'hex') as hash) h where k.account = ${agent.id}`
}

/** Changes a payment in a way that moves what it counts. */
async function change(agent: Agent): Promise<void> {
  const { sql } = world.db
  const set = pick([
    sql`state = 'settled', finality = 'finalized'`,
    sql`state = 'signed', finality = 'included'`,
    sql`consent_level = ${pick(levels)}`,
    sql`amount_usd_micros = ${random.between(1, 1_000_000)}`,
    sql`valid_before = valid_before + ${random.between(-4_000, 4_000)}`,
  ])
  await sql`update private.payments set ${set} where id = (select id from private.payments
    where account = ${agent.id} and state in ('signed', 'settled')
    order by md5(id::text || ${random.between(0, 1e9)}::text) limit 1)`
}

/** Adds up what counts, payment by payment, beside what limits are decided by. */
async function sumsOf({ id, address }: Agent) {
  const [row] = await world.db.sql<Record<string, unknown>[]>`
    with counted as (
      select p.*, private.leaves_at(p.state, p.counts_until, p.valid_before, private.clock()) as leaves
        from private.payments p where p.account = ${id} and p.counts_until > private.clock())
    select to_jsonb(private.spent(${id})) as spent,
      (select jsonb_build_object(
          'automatic', coalesce(sum(c.amount_usd_micros) filter (where c.consent_level = 'none'), 0),
          'asserted', coalesce(sum(c.amount_usd_micros) filter (where c.consent_level = 'agent_asserted'), 0),
          'total', coalesce(sum(c.amount_usd_micros), 0), 'month', m.usd_micros,
          'automatic_resets_at', min(c.leaves) filter (where c.consent_level = 'none'),
          'asserted_resets_at', min(c.leaves) filter (where c.consent_level = 'agent_asserted'),
          'total_resets_at', min(c.leaves), 'month_resets_at', m.resets_at)
        from (select coalesce(sum(p.amount_usd_micros), 0) as usd_micros,
            min(l.leaves) filter (where p.state = 'settled') as resets_at
          from private.payments p, lateral (select date_trunc('day', pg_catalog.to_timestamp(p.valid_before)
            at time zone 'UTC' + interval '31 days') at time zone 'UTC' as leaves) l
          where p.account = ${id} and case p.state when 'settled' then l.leaves > private.clock()
            else p.counts_until > private.clock() end) m left join counted c on true group by m.usd_micros, m.resets_at)
        as slowly,
      (select to_jsonb(private.used_of_budget(k.id)) from private.credentials k where k.account = ${id}) as budget,
      (select jsonb_build_object('usd_micros', coalesce(sum(c.amount_usd_micros), 0),
        'resets_at', min(c.leaves)) from counted c) as budget_slowly,
      (select jsonb_agg(to_jsonb(private.asserted_to(${id}, y)) order by y) from unnest(${payees}::text[]) y) as payees,
      (select jsonb_agg((select jsonb_build_object('usd_micros', coalesce(sum(c.amount_usd_micros), 0),
          'resets_at', min(c.leaves)) from counted c where c.payee = y and c.consent_level = 'agent_asserted')
        order by y) from unnest(${payees}::text[]) y) as payees_slowly,
      private.sums_are_right(${id}) as are_right, ${address} as address`
  return row
}

test('through inserts, changes and hours they equal what is added up one by one', async () => {
  for (let round = 0; round < 12; round += 1) {
    for (let step = 0; step < 20; step += 1) {
      const agent = pick(agents)
      await (random.between(0, 2) === 0 ? change(agent) : pay(agent))
    }
    await world.tick(random.between(1, round === 9 ? 2_800_000 : 20_000))
    for (const agent of agents) {
      const row = await sumsOf(agent)
      expect(row).toMatchObject({
        spent: row?.['slowly'],
        budget: row?.['budget_slowly'],
        payees: row?.['payees_slowly'],
        are_right: true,
      })
    }
  }
})

test('a sum that is not that of its payments is found', async () => {
  const agent = await world.agent('pay')
  await world.db.sql`insert into private.settled_sums
    values (${agent.id}, '', private.near() + interval '1 hour', 0, 0, 1, 1)`

  expect(await sumsOf(agent)).toMatchObject({ are_right: false })
})
