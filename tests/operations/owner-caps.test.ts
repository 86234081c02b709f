/** The owner sets the caps of keys and apps, and they hold from the next payment on. */
import { beforeAll, expect, test } from 'vitest'
import { credentialOf, shownPart } from '../../shared/auth/api-key.ts'
import { actingBy, appWith, keyWith } from '../support/capped.ts'
import { acquainted } from '../support/ledger.ts'
import { feedOf, ownerOf, type TestOwner } from '../support/owner.ts'
import { randomBytes, randomUUID } from '../support/seed.ts'
import { anew } from '../support/wish.ts'
import { type Agent, pepper, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function home(provenMinutesAgo = 0, holds = appWith) {
  const { payer, payee } = await acquainted(world, 100)
  const owner = await ownerOf(world, payer, provenMinutesAgo)
  const order = { chain: 'base-sepolia', token: 'USDC', recipient: payee.address }
  const send = async (agent: Agent, amount: string) =>
    (await agent.post(path, anew({ ...order, amount }))).status
  return { payer, owner, send, app: await holds(world, payer, { each: 5, day: 20 }) }
}

/** Sets caps in whole USD; null means no cap. */
async function set(owner: TestOwner, holder: string, each: number | null, day: number | null) {
  const micros = (usd: number | null) => (usd === null ? null : String(usd * 1_000_000))
  const caps = { max_per_payment_usd_micros: micros(each), max_per_day_usd_micros: micros(day) }
  const answer = await owner.call('owner_set_caps', { holder, ...caps })
  return Array.isArray(answer) ? answer[0]?.['outcome'] : answer
}

test('caps are lowered and raised, hold from the next payment on, and each change is told', async () => {
  const { payer, owner, app, send } = await home()

  const outcomes = [await set(owner, app.holder, 2, 20), await set(owner, app.holder, 2, 20)]
  expect([await send(app, '2'), await send(app, '2.01')]).toEqual([200, 403])
  outcomes.push(await set(owner, app.holder, null, 20), await set(owner, app.holder, null, null))
  expect(await send(app, '30')).toBe(200)

  expect(outcomes).toEqual(['lowered', 'same', 'raised', 'raised'])
  const told = await world.db.sql<{ summary: string }[]>`select summary from private.activities
    where account = ${payer.id} and type like 'caps%' order by id`
  expect(told.map(({ summary }) => summary)).toEqual([
    'The app at app.example may move at most 2 USD in one payment and 20 USD in 24 hours.',
    'The app at app.example may move at most 20 USD in 24 hours.',
    'The app at app.example has no caps of its own.',
  ])
})

test.each([
  ['a key', keyWith],
  ['an app', appWith],
])('caps of %s are lowered without a fresh proof, and widened in nothing', async (_, holds) => {
  const { owner, app } = await home(11, holds)
  const refused = { refused: 'proof_required' }

  for (const [each, day] of [
    [6, 20],
    [5, 21],
    [1, 21],
    [null, 1],
    [1, null],
  ] as const) {
    expect(await set(owner, app.holder, each, day), `${each} and ${day}`).toEqual(refused)
  }
  expect(await set(owner, app.holder, 5, 0)).toBe('lowered')
})

test('a cap lies within bounds, and only a live key or app of the own account can have one', async () => {
  const { payer, owner, app } = await home()
  const { owner: stranger } = await home()
  const [session] = await world.db.sql<{ id: string }[]>`select id from private.credentials
    where digest = ${owner.credential}`

  expect(await set(owner, app.holder, -1, 1)).toBe('out_of_bounds')
  expect(await set(owner, app.holder, 1, 1_000_001)).toBe('out_of_bounds')
  expect(await set(stranger, app.holder, 1, 1)).toBe('missing')
  for (const holder of [randomUUID(), session?.id ?? '']) {
    expect(await set(owner, holder, 1, 1)).toBe('missing')
  }
  await world.db
    .sql`update private.credentials set revoked_at = private.clock() where id = ${app.holder}`
  expect(await set(owner, app.holder, 1, 1)).toBe('missing')
  expect(await feedOf(world.db, payer)).toEqual([])
})

/** Replaces a key by another one; the old key stays valid for an hour. */
async function replace(owner: TestOwner, payer: Agent, key: string) {
  const next = await payer.withKey('pay')
  const digest = await credentialOf(next.key, pepper)
  await world.db.sql`update private.credentials set digest = ${randomBytes(32).toString('hex')}
    where digest = ${digest}`
  const order = { key, digest, shown: shownPart(next.key), expires_in_days: 90, overlap_hours: 1 }
  await owner.call('owner_rotate_key', order)
  return next
}

/** Connects the same app again, each time by a code for 5 USD a day. */
async function connect(payer: Agent) {
  const code = {
    account: payer.id,
    asked: { client_id: 'one', client_name: 'One', redirect_host: 'one.example' },
    scopes: ['pay'],
    days: 90,
    max_per_day_usd_micros: 5_000_000,
  }
  const [begun] = await world.db.sql<{ id: string }[]>`
    select (private.begin_grant(
      jsonb_populate_record(null::private.oauth_codes, ${JSON.stringify(code)}::text::jsonb), null
    )).id`
  return actingBy(world, payer, begun?.id ?? '')
}

test('an app that is let in again goes on with what it moved, also after it was ended', async () => {
  const { payer, owner, send } = await home()
  const first = await connect(payer)
  await world.acquaint(payer, payer.address)
  await send(first, '3')

  const second = await connect(payer)
  await owner.call('owner_disconnect_apps')
  const third = await connect(payer)

  expect([await send(first, '1'), await send(second, '1')]).toEqual([401, 401])
  expect((await third.get('/get-identity')).body).toMatchObject({
    credential: { caps: { max_per_day_usd: '5', left_today_usd: '2' } },
  })
})

test('a key that takes the place of another has its caps, and both count together', async () => {
  const { payer, owner, app: first, send } = await home(0, keyWith)
  await send(first, '5')

  const second = await replace(owner, payer, first.holder)
  const both = [await send(second, '5'), await send(first, '5'), await send(second, '5')]
  const over = [await send(first, '0.000001'), await send(second, '0.000001')]

  expect([both, over]).toEqual([
    [200, 200, 200],
    [403, 403],
  ])
  expect(await send(payer, '1')).toBe(200)
  expect((await second.get('/get-identity')).body).toMatchObject({
    credential: { caps: { max_per_payment_usd: '5', max_per_day_usd: '20', left_today_usd: '0' } },
  })
})
