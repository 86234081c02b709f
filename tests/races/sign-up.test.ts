/** Concurrent sign-ups stay within their limits, in every order of their steps. */
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { randomBytes, randomUUID } from '../support/seed.ts'
import { openSession, orders, type Session, stepThrough } from '../support/sessions.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let sessions: [Session, Session]
beforeAll(async () => {
  world = await start()
  sessions = [await openSession(world.db), await openSession(world.db)]
  await world.db.sql.unsafe(`
    create function testing.request(email text, client text) returns text language plpgsql as $$
    begin
      perform api.signup_request(email, encode(sha256(gen_random_uuid()::text::bytea), 'hex'), client,
        null, null);
      return 'sent';
    exception when sqlstate 'PT429' then
      return 'refused';
    end $$`)
})

/** Every order of two steps for each session: act, then commit. */
const everyOrder = orders(
  new Map([
    [0, 2],
    [1, 2],
  ]),
).map((order) => ({ order, name: order.map((who) => 'ab'[who]).join(' ') }))

/** Runs both statements in this order. Returns the answer of each session. */
async function race(order: readonly number[], statements: readonly [string, string]) {
  const [a, b] = sessions
  const steps = statements.map((statement) => [['begin', statement], ['commit']] as const)
  const stepsOf = new Map([
    [a, steps[0] ?? []],
    [b, steps[1] ?? []],
  ])
  await stepThrough(
    world.db.sql,
    order.map((who) => (who === 0 ? a : b)),
    stepsOf,
  )
  const heard = [...(await a.answers()), ...(await b.answers())]
  return heard.map(({ outcome }) => String(outcome)).toSorted()
}

const request = (email: string, client: string) =>
  `select testing.request('${email}', '${client}') as outcome`

async function link(email: string): Promise<string> {
  const digest = createHash('sha256').update(randomBytes(32)).digest('hex')
  await world.db.sql`insert into private.signups
    (email, network, wide_network, code_digest, link_digest, confirmed_at)
    values (${email}, 'n', 'n', ${digest}, ${digest}, private.clock())`
  return digest
}

function opening(digest: string, alias: string): string {
  const address = `0x${randomBytes(20).toString('hex')}`
  const apiKey = { digest: randomBytes(32).toString('hex'), shown: 'aoa_test_' }
  return `select outcome from api.custody_open_account('${digest}', '${randomUUID()}', '${alias}',
    '${address}', '{}', 'hash', '${JSON.stringify(apiKey)}')`
}

const someone = () => `${randomBytes(6).toString('hex')}@example.com`
const name = () => `n${randomBytes(6).toString('hex')}`

describe.each(everyOrder)('in the order $name', ({ order }) => {
  test('the last code of an hour is sent once', async () => {
    const email = someone()
    for (const client of ['c1', 'c2']) await world.db.sql.unsafe(request(email, client + email))

    const heard = await race(order, [request(email, `c3${email}`), request(email, `c4${email}`)])

    expect(heard).toEqual(['refused', 'sent'])
  })

  test('the last code for one network is sent once', async () => {
    const client = someone()
    for (let asked = 0; asked < 19; asked += 1) {
      await world.db.sql.unsafe(request(someone(), client))
    }

    const heard = await race(order, [request(someone(), client), request(someone(), client)])

    expect(heard).toEqual(['refused', 'sent'])
  })

  test('one link opens one account', async () => {
    const digest = await link(someone())
    const heard = await race(order, [opening(digest, name()), opening(digest, name())])
    expect(heard).toEqual(['link_closed', 'opened'])
  })

  test('one alias is given once', async () => {
    const alias = name()
    const links = [await link(someone()), await link(someone())] as const
    const heard = await race(order, [opening(links[0], alias), opening(links[1], alias)])
    expect(heard).toEqual(['alias_taken', 'opened'])
  })

  test('one of two aliases that look alike is given', async () => {
    const alias = name()
    const links = [await link(someone()), await link(someone())] as const
    const heard = await race(order, [
      opening(links[0], `${alias}-modern`),
      opening(links[1], `${alias}rnodern`),
    ])
    expect(heard).toEqual(['alias_taken', 'opened'])
  })

  test('one mail address opens one account', async () => {
    const email = someone()
    const links = [await link(email), await link(email)] as const
    const heard = await race(order, [opening(links[0], name()), opening(links[1], name())])
    expect(heard).toEqual(['address_known', 'opened'])
  })
})
