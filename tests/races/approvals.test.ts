/** Approval, decline, expiry and the agent's repeat end correctly in every order. */
import { expect, test } from 'vitest'
import { ownerOf } from '../support/owner.ts'
import { openSession, orders, type Session, type Step, stepThrough } from '../support/sessions.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const noon = new Date('2027-03-01T12:00:00Z')
const daySeconds = 86_400
const payer = await world.agent('pay')
const owner = await ownerOf(world, payer)
await sql`update private.sessions set proven_at = 'infinity'`
const [key] = await sql<{ id: string; digest: string }[]>`
  select id, digest from private.credentials where account = ${payer.id} and kind = 'api_key'`
const names = ['approve', 'decline', 'expire', 'pay', 'pay again'] as const
const sessions = await Promise.all(names.map(() => openSession(world.db)))
const [approving, declining, expiring, paying, again] = sessions

async function enter(): Promise<string> {
  await world.db.setClock(noon)
  const [row] = await sql<{ id: string }[]>`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at)
    select ${payer.id}, ${key?.id ?? ''}, 'a device', 'x402', 'awaiting_confirmation', 84532,
      ${`0x${'1'.repeat(40)}`}, ${payer.address}, ${`0x${'2'.repeat(40)}`}, 1, 1,
      private.clock() + interval '1 hour' returning id`
  return row?.id ?? ''
}

function deciding(payment: string, decision: string): string {
  return `select '${decision}' as by, d.outcome from private.payments p,
    api.owner_decide_payment('${owner.credential}', p.id, '${decision}', private.terms_digest(p)) d
    where p.id = '${payment}'`
}

function authorizing(payment: string): string {
  return `select 'agent' as by, c.outcome, c.first from private.accounts a, api.custody_authorize(
    '${key?.digest ?? ''}', '${payment}', 'user_session', a.facts_version, '9000', 0, extract(epoch from private.clock())::bigint + 600, 45,
    cost_wei => '1') c
    where a.id = '${payer.id}'`
}

const timeEnds = `do $$ begin perform testing.set_clock_ahead('${daySeconds} seconds'); end $$;
  select api.housekeeping_close_unused(10)`

/** Returns the state of the payment and every answer, after the steps ran in this order. */
async function outcomeOf(order: readonly Session[], stepsFor: (id: string) => [Session, Step[]][]) {
  const payment = await enter()
  await stepThrough(sql, order, new Map(stepsFor(payment)))
  const heard = (await Promise.all(sessions.map((session) => session.answers()))).flat()
  const [row] = await sql<{ state: string; decision: string | null }[]>`
    select p.state, o.decision from private.payments p
      left join private.approvals o on o.payment = p.id where p.id = ${payment}`
  const authorized = heard.filter(({ by, outcome }) => by === 'agent' && outcome === 'authorized')
  return { ...row, authorized, outcomes: heard.map(({ outcome }) => outcome) }
}

test('what the owner declined or never approved is not paid, in whatever order it all comes', async () => {
  if (!approving || !declining || !expiring || !paying) throw new Error('no sessions')
  const deciders = (id: string): [Session, Step[]][] => [
    [approving, [['begin', deciding(id, 'approved')], ['commit']]],
    [expiring, [[timeEnds]]],
    [paying, [['begin', authorizing(id)], ['commit']]],
  ]
  const all = (id: string): [Session, Step[]][] => [
    ...deciders(id),
    [declining, [[deciding(id, 'declined')]]],
  ]
  const seen = new Set<string>()

  // Of two sessions that wait for a third, either may be next, so some ends are certain only without a decline.
  for (const steps of [all, deciders]) {
    for (const order of orders(new Map(steps('').map(([session, own]) => [session, own.length])))) {
      const { state, decision, authorized, outcomes } = await outcomeOf(order, steps)
      seen.add(String(state))
      // A reservation that was never signed is freed when the day ends.
      const isPaid = state === 'authorized' || state === 'released'
      const isDeclined = outcomes.includes('declined')
      expect({ isPaid, isApproved: decision === 'approved' || !isPaid }).toEqual({
        // A reservation can be taken back until it is signed.
        isPaid: authorized.length > 0 && !isDeclined,
        isApproved: true,
      })
      expect(state === 'declined').toBe(isDeclined)
    }
  }

  // A payment that is locked when its time ends is closed by the next run.
  const open = ['authorized', 'awaiting_confirmation']
  expect([...seen].toSorted()).toEqual([...open, 'declined', 'expired', 'released'])
}, 60_000)

test('of two repeats after the approval one drives the payment', async () => {
  if (!paying || !again) throw new Error('no sessions')
  const steps = (id: string): [Session, Step[]][] => [
    [paying, [[deciding(id, 'approved')], ['begin', authorizing(id)], ['commit']]],
    [again, [['begin', authorizing(id)], ['commit']]],
  ]
  const every = orders(new Map([...steps('')].map(([session, own]) => [session, own.length])))

  for (const order of every) {
    const { authorized } = await outcomeOf(order, steps)
    expect(authorized.filter(({ first }) => first === true)).toHaveLength(1)
  }
})

test('another device never takes the place of the one that was shown and approved', async () => {
  if (!approving || !paying) throw new Error('no sessions')
  const [shown] = await sql<{ asker: string }[]>`
    select encode(sha256(convert_to(${`${key?.id ?? ''} a device`}, 'UTF8')), 'hex') as asker`
  const approval = (id: string) => `select d.outcome from private.payments p,
    api.owner_decide_payment('${owner.credential}', p.id, 'approved', private.terms_digest(p),
      '${shown?.asker ?? ''}') d where p.id = '${id}'`
  const repeat = (id: string) => `select from api.payment_facts(
    '${key?.digest ?? ''}', '${id}', 'x402', 'of a thief')`
  const steps = (id: string): [Session, Step[]][] => [
    [approving, [['begin', approval(id)], ['commit']]],
    [paying, [['begin', repeat(id)], ['commit']]],
  ]
  const every = orders(new Map([...steps('')].map(([session, own]) => [session, own.length])))

  const decisions = new Set<unknown>()
  for (const order of every) decisions.add((await outcomeOf(order, steps)).decision)

  expect(decisions).toEqual(new Set(['approved', null]))
  expect(
    await sql`select from private.payments p join private.approvals o on o.payment = p.id
      where p.device = 'of a thief'`,
  ).toHaveLength(0)
})
