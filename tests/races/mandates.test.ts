/** Payments that race under a mandate, and against its end, stay within its terms. */
import { expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { excerptOf, inForm } from '../support/cases.ts'
import {
  authorize,
  carriedBy,
  lineUp,
  openMandateRace,
  type Racers,
  raceForMandate,
  roomForAHundred,
} from '../support/mandate-race.ts'
import { type AskedMandate, askMandate } from '../support/mandates.ts'
import { ownerOf } from '../support/owner.ts'
import { openSession, orders, type Session, type Step, stepThrough } from '../support/sessions.ts'
import { pepper } from '../support/world.ts'

const race = await openMandateRace()
const { world, sql } = race
const rounds = inForm(3, 10)
/** Number of answers after which a round ends the mandate; the rounds spread over the 60 payments. */
const answeredAt = (round: number) => 1 + Math.floor((20 * round) / rounds)
const daySeconds = 86_400

test.each(excerptOf(roomForAHundred, 1))(
  '%j: of 200 payments at once exactly 100 pass',
  async (order) => {
    await raceForMandate(race, order)
  },
)

type End = (racers: Racers) => Promise<unknown>

const ends: readonly [string, End][] = [
  [
    'the agent revokes it',
    ({ credential, id }) => sql`select from api.revoke_mandate(${credential}, ${id})`,
  ],
  ['the owner revokes it', ({ owner, id }) => owner.call('owner_revoke_mandate', { mandate: id })],
  [
    'the owner suspends it',
    ({ owner, id }) => owner.call('owner_suspend_mandate', { mandate: id, suspended: true }),
  ],
  [
    'the account is frozen',
    ({ credential }) => sql`select from api.freeze_account(${credential}, 50)`,
  ],
]

/** Sends all payments at once; `reached` resolves after `answered` of them. */
function send(racers: Racers, payments: readonly string[], answered: number) {
  let left = answered
  let reach = () => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const sent = payments.map(async (one) => {
    const outcome = await authorize(race, racers, one).catch(() => 'refused')
    left -= 1
    if (left === 0) reach()
    return outcome
  })
  return { reached, outcomes: Promise.all(sent) }
}

test.each(excerptOf(ends, 2))(
  'once it was answered that %s, nothing more passes',
  async (_, end) => {
    let amid = 0
    for (let round = 0; round < rounds; round += 1) {
      const racers = await lineUp(race, 60, {})

      const { reached, outcomes } = send(racers, racers.payments, answeredAt(round))
      await reached
      await end(racers)
      const carried = await carriedBy(race, racers)
      const passed = (await outcomes).filter((outcome) => outcome === 'authorized')

      expect([passed.length, await carriedBy(race, racers)]).toEqual([carried, carried])
      if (carried < racers.payments.length) amid += 1
    }
    expect(amid).toBeGreaterThan(rounds / 2)
  },
)

test('once its time is over nothing more passes, and nothing passes late', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const racers = await lineUp(race, 60, {})
    const [early, late] = [racers.payments.slice(0, 40), racers.payments.slice(40)]

    const { reached, outcomes } = send(racers, early, answeredAt(round))
    await reached
    await world.tick(daySeconds + 1)
    const after = await send(racers, late, 1).outcomes
    await outcomes

    expect(new Set(after)).toEqual(new Set(['stale']))
    const tardy =
      await sql`select from private.payments p join private.mandates m on m.id = p.mandate
      where m.id = ${racers.id} and p.authorized_at >= m.expires_at`
    expect(tardy).toHaveLength(0)
  }
})

const words = ['approve', 'decline', 'narrow', 'revoke'] as const
const sessions = await Promise.all(words.map(() => openSession(world.db)))

test('of yes, no, narrower terms and revocation at once, what is in force is what was consented to', async () => {
  const [approving, declining, narrowing, revoking] = sessions
  if (!approving || !declining || !narrowing || !revoking) throw new Error('no sessions')
  const agent = await world.agent('pay')
  const owner = await ownerOf(world, agent)
  const credential = await credentialOf(agent.key, pepper)
  const stepsFor = ({ id, digest }: AskedMandate): [Session, Step[]][] => [
    [approving, [['begin', deciding(owner.credential, id, 'approved', digest)], ['commit']]],
    [declining, [[deciding(owner.credential, id, 'declined', digest)]]],
    [narrowing, [['begin', narrower(owner.credential, id)], ['commit']]],
    [revoking, [[`select 'revoked' as outcome from api.revoke_mandate('${credential}', '${id}')`]]],
  ]
  const nobody = { id: '', digest: '' }
  const every = orders(new Map(stepsFor(nobody).map(([session, own]) => [session, own.length])))
  const ended = new Set<string>()

  for (const order of excerptOf(every, 20)) {
    const asked = await askMandate(world, agent)
    await stepThrough(world.db.sql, order, new Map(stepsFor(asked)))
    const heard = (await Promise.all(sessions.map((session) => session.answers()))).flat()
    const [row] = await sql<{ state: string; cap: string; fits: boolean | null }[]>`
      select m.state, m.max_payment_usd_micros::text as cap,
        (select c.digest = private.mandate_digest(m) from private.consents c
          where c.id = m.consent) as fits
      from private.mandates m where m.id = ${asked.id}`
    const outcomes = heard.flatMap(({ outcome }) => (typeof outcome === 'string' ? [outcome] : []))

    const has = (outcome: string) => outcomes.includes(outcome)
    expect(has('approved') && has('declined')).toBe(false)
    expect(row?.state).toBe(has('declined') ? 'declined' : 'revoked')
    expect(row?.fits ?? null).toBe(has('approved') ? true : null)
    expect(row?.cap).toBe(has('narrowed') ? '1' : '5000000')
    expect(has('approved') && has('narrowed')).toBe(false)
    ended.add(outcomes.map(String).sort().join(' '))
  }

  expect(ended.size).toBeGreaterThanOrEqual(4)
})

const deciding = (credential: string, id: string, decision: string, digest: string) =>
  `select d.outcome from api.owner_decide_mandate('${credential}', '${id}', '${decision}', '${digest}') d`

const narrower = (credential: string, id: string) =>
  `select n.outcome from private.mandates m, api.owner_narrow_mandate('${credential}', m.id,
    max_payment_usd_micros => '1', include_subdomains => false, expires_at => m.expires_at) n
   where m.id = '${id}'`
