/** A session that is ended cannot go on with what it waited for. */
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { waitingPayment } from '../support/consents.ts'
import { askMandate } from '../support/mandates.ts'
import type { TestOwner } from '../support/owner.ts'
import { digestTicked, ownerOf } from '../support/owner.ts'
import type { TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

const listed = z.tuple([
  z.object({ counts_from: z.string(), until: z.string(), digest: z.string() }),
])
const digest = () => randomBytes(32).toString('hex')
let world: TestWorld
beforeAll(async () => {
  world = await start()
})

async function openHouse() {
  const agent = await world.agent('full')
  const email = `${agent.alias}@people.example`
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${agent.id}, ${email}, 'a hash')`
  await world.tick(86_400)
  return { agent, email, owner: await ownerOf(world, agent), thief: await ownerOf(world, agent) }
}
async function shownTo(owner: TestOwner) {
  const since = new Date(world.world.now().getTime() - 3_600_000).toISOString()
  const [shown] = listed.parse(await owner.call('owner_list_made', { since }))
  return { since: shown.counts_from, until: shown.until, digest: shown.digest }
}
async function oneWaits(): Promise<void> {
  const rows = () => world.db.sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await rows()).length, { timeout: 5_000 }).toBe(1)
}
/** The owner ends all; in the same moment the thief does that. */
async function beside(owner: TestOwner, late: () => Promise<unknown>): Promise<unknown> {
  const { since, until, digest: shown } = await shownTo(owner)
  let answer: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_end_made(${owner.credential}, ${since}, ${until}, ${shown},
      ${digest()}, password_hash => 'another hash')`
    answer = late()
    await oneWaits()
  })
  return answer
}
const hashOf = async (id: string) =>
  (await world.db.sql`select password_hash from private.owners where account = ${id}`)[0]?.['password_hash']

test('set password', async () => {
  const { agent, owner, thief } = await openHouse()
  const answer = await beside(owner, () =>
    thief.call('owner_set_password', { password_hash: 'of the thief', session_digest: digest() }))
  console.log(JSON.stringify(answer))
  expect(await hashOf(agent.id)).toBe('another hash')
})
test('not me of the thief', async () => {
  const { agent, owner, thief } = await openHouse()
  const shown = await shownTo(thief)
  const answer = await beside(owner, () =>
    thief.call('owner_end_made', { ...shown, session_digest: digest(), password_hash: 'of the thief' }))
  console.log(JSON.stringify(answer))
  expect(await hashOf(agent.id)).toBe('another hash')
})
test('approve a mandate', async () => {
  const { agent, owner, thief } = await openHouse()
  const asked = await askMandate(world, agent)
  await world.tick(7200)
  const owner2 = await ownerOf(world, agent)
  const thief2 = await ownerOf(world, agent)
  const answer = await beside(owner2, () =>
    thief2.call('owner_decide_mandate', { mandate: asked.id, decision: 'approved', digest: asked.digest }))
  console.log(JSON.stringify(answer))
  const [row] = await world.db.sql`select state from private.mandates where id = ${asked.id}`
  expect(row?.['state']).toBe('pending_approval')
})
test('lose passkeys', async () => {
  const { agent, owner } = await openHouse()
  const thief = await ownerOf(world, agent)
  await world.db.sql`update private.sessions set signed_in_with='recovery_code', proven_at='-infinity'
    where credential = (select id from private.credentials where digest=${thief.credential})`
  await world.db.sql`insert into private.passkeys (id, account, public_key, counter, transports, label, is_first)
    values ('abc', ${agent.id}, 'x', 0, '{}', 'mine', true)`
  await world.db.sql`update private.sessions set proven_by='abc' where credential=(select id from private.credentials where digest=${owner.credential})`
  await world.tick(1)
  const answer = await beside(owner, () => thief.call('owner_lose_passkeys', {}))
  console.log(JSON.stringify(answer))
  const [row] = await world.db.sql`select passkeys_lost_at from private.owners where account=${agent.id}`
  expect(row?.['passkeys_lost_at']).toBeNull()
})
test('approve a payment', async () => {
  const { agent } = await openHouse()
  const payment = await waitingPayment(world, agent)
  await world.tick(300)
  const owner = await ownerOf(world, agent)
  const thief = await ownerOf(world, agent)
  const since = new Date(world.world.now().getTime() - 60_000).toISOString()
  const [shown] = listed.parse(await owner.call('owner_list_made', { since }))
  const ticked = await digestTicked(world.db, payment, ['remember_payee'])
  let answer: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await session`select from api.owner_end_made(${owner.credential}, ${shown.counts_from}, ${shown.until}, ${shown.digest},
      ${digest()}, password_hash => 'another hash')`
    answer = thief.call('owner_decide_payment', { payment, decision: 'approved', digest: ticked, remember_payee: true })
    await oneWaits()
  })
  console.log(JSON.stringify(await answer))
  const known = await world.db.sql`select address from private.known_recipients where account = ${agent.id}`
  expect(known).toHaveLength(0)
})
