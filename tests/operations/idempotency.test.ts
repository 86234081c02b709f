/**
 * An Idempotency-Key keeps its promises for every operation that changes something. The tests use a
 * transfer that stops to ask for confirmation, because each entered transfer has its own id.
 */
import { expect, test } from 'vitest'
import { anyText } from '../support/matching.ts'
import { type Agent, type Answer, start } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const world = await start({ chain: true })
const order = {
  recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  chain: 'base-sepolia',
  token: 'USDC',
  amount: '5',
}
const agent = await world.agent('full', { usdc: 100 })

function post(by: Agent, key: string, body: unknown = order): Promise<Answer> {
  return by.post(path, body, { 'idempotency-key': key })
}

async function paymentsOf({ id }: Agent): Promise<number> {
  const rows = await world.db.sql`select 1 from private.payments where account = ${id}`
  return rows.length
}

test('the same key and body get the same answer, byte for byte, and enter one payment', async () => {
  const fresh = await world.agent('pay', { usdc: 100 })

  const first = await post(fresh, 'one')
  const second = await post(fresh, 'one')

  expect(first).toMatchObject({ status: 200, body: { status: 'awaiting_confirmation' } })
  expect(JSON.stringify(second.body)).toBe(JSON.stringify(first.body))
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  expect(await paymentsOf(fresh)).toBe(1)
})

test('requests that arrive together get one answer', async () => {
  const fresh = await world.agent('pay', { usdc: 100 })
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(fresh, 'together')))
  const bodies = new Set(answers.map(({ body }) => JSON.stringify(body)))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect(bodies.size).toBe(1)
  expect(await paymentsOf(fresh)).toBe(1)
})

test('another body under the same key is refused, and the first answer stands', async () => {
  const first = await post(agent, 'mismatch')
  for (const body of [
    { ...order, amount: '6' },
    { ...order, memo: '' },
  ]) {
    expect(await post(agent, 'mismatch', body)).toMatchObject({
      status: 422,
      body: { error: 'idempotency_mismatch' },
    })
  }
  expect((await post(agent, 'mismatch')).body).toEqual(first.body)
})

test('without a key a request finds the payment that waits, and with keys each is one of its own', async () => {
  const without = [await agent.post(path, order), await agent.post(path, order)]
  const apart = [await post(agent, 'one-wish'), await post(agent, 'another-wish')]
  const ids = [...without, ...apart].map(({ body }) => body['transfer_id'])
  expect(ids[1]).toBe(ids[0])
  expect(new Set(ids).size).toBe(3)
})

test('keys of two accounts are apart', async () => {
  const [one, other] = [
    await world.agent('pay', { usdc: 10 }),
    await world.agent('pay', { usdc: 10 }),
  ]
  const first = await post(one, 'shared')
  const second = await post(other, 'shared', { ...order, amount: '6' })
  expect([first.status, second.status]).toEqual([200, 200])
  expect(first.body['transfer_id']).not.toBe(second.body['transfer_id'])
})

test('another key of the account has keys of its own', async () => {
  const one = await world.agent('pay', { usdc: 10 })
  const other = await one.withKey('full')
  const first = await post(one, 'of-one-key')

  const others = await post(other, 'of-one-key')

  expect([first.status, others.status]).toEqual([200, 200])
  expect(others.body['transfer_id']).not.toBe(first.body['transfer_id'])
})

test('a key that replaces another does nothing of it twice, and is not told its answer', async () => {
  const one = await world.agent('pay', { usdc: 10 })
  const other = await one.withKey('pay')
  await world.db.sql`update private.credentials k set shares_budget_of = old.id
    from private.credentials old where old.account = ${one.id} and k.account = ${one.id}
      and k.created_at > old.created_at`
  await post(one, 'in-turn')

  const repeated = await post(other, 'in-turn')

  expect(repeated).toMatchObject({ status: 409, body: { error: 'conflict', hint: anyText } })
  expect(JSON.stringify(repeated.body)).not.toContain('awaiting_confirmation')
  expect(await paymentsOf(one)).toBe(1)
})

test('while the account is frozen no kept answer is told, and nothing is done anew', async () => {
  const payer = await world.agent('pay', { usdc: 10 })
  const first = await post(payer, 'frozen')
  await payer.post('/account-freeze', {})

  const during = await post(payer, 'frozen')
  await world.db.sql`update private.accounts set frozen_at = null where id = ${payer.id}`
  const after = await post(payer, 'frozen')

  expect(during).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  expect(after.body).toEqual(first.body)
  expect(await paymentsOf(payer)).toBe(1)
})

test('a refusal keeps nothing: the same key is free for the corrected request', async () => {
  const poor = await world.agent('pay')
  const tooMuch = await post(poor, 'again')
  const corrected = await post(poor, 'again', { ...order, chain: 'nowhere' })
  expect(tooMuch).toMatchObject({ status: 409, body: { error: 'insufficient_funds' } })
  expect(corrected).toMatchObject({ status: 422, body: { error: 'unsupported_chain' } })
})

test('after 24 hours a key means nothing any more', async () => {
  const apart = await start({ chain: true })
  const payer = await apart.agent('pay', { usdc: 100 })
  const first = await post(payer, 'old')
  await apart.tick(23 * 3_600)
  expect((await post(payer, 'old')).body).toEqual(first.body)
  await apart.tick(2 * 3_600)

  const later = await post(payer, 'old')

  expect(later.status).toBe(200)
  expect(later.body['transfer_id']).not.toBe(first.body['transfer_id'])
})

test('a kept answer is told to nobody whose key is revoked or too narrow', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  await post(payer, 'kept')
  const reader = await payer.withKey('read')
  expect(await post(reader, 'kept')).toMatchObject({ status: 403 })
  await world.db
    .sql`update private.credentials set revoked_at = private.clock() where account = ${payer.id}`
  expect(await post(payer, 'kept')).toMatchObject({ status: 401 })
})

test.each(['', 'a b', 'é', 'x'.repeat(256)])('refuses the key %j', async (key) => {
  // A header value is bytes (RFC 9110 section 5.5), so a letter beyond ASCII arrives as Latin-1.
  const answer = await post(agent, key)
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(answer.body['message']).toContain('Idempotency-Key')
})

test('a key of 255 characters is taken', async () => {
  expect(await post(agent, 'x'.repeat(255))).toMatchObject({ status: 200 })
})

test('an operation that changes nothing takes no notice of a key', async () => {
  const header = { 'idempotency-key': 'for-reading' }
  const all = await agent.post('/get-wallet-balances', {}, header)
  const some = await agent.post('/get-wallet-balances', { tokens: ['USDC'] }, header)
  expect([all.status, some.status]).toEqual([200, 200])
  expect(some.body['balances']).toHaveLength(1)
})

test.each([1, 2, 3, 4])(
  'a key that may ask %i times at once hears 429 for nothing that was done',
  async (burst) => {
    const owner = await world.agent('pay', { usdc: 100 })
    const hasty = await owner.withKey('pay', { perSecond: 1, burst })

    const answer = await post(hasty, 'hasty', { ...order, user_confirmed: true })

    const [payment] = await world.db.sql`select state from private.payments
      where account = ${owner.id}`
    const state = String(payment?.['state'] ?? 'none')
    expect([answer.status, state]).toBeOneOf([
      [429, 'none'],
      [429, 'prepared'],
      [200, 'signed'],
    ])
  },
)
