/** The loop of a payment closes by itself: each answer names the next call, and a status waits. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { signedIn } from '../support/browserless.ts'
import { usdcOf } from '../support/ledger.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const nextSchema = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) })
const askedSchema = z.object({ transfer_id: z.uuid(), confirmation: z.object({ url: z.url() }) })
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function asked(amount: string) {
  const payer = await world.agent('pay', { usdc: 500 })
  const payee = await world.agent('read')
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount }
  const { body } = await payer.post('/wallet-custodial-transfer', order)
  const { transfer_id, confirmation } = askedSchema.parse(body)
  const page = new URL(confirmation.url).pathname
  return { payer, payee, body, transfer_id, page }
}

type Sender = Pick<Agent, 'post'>

/** Sends the call that an answer names, as it stands there. */
function follow(sender: Sender, { next }: Record<string, unknown>) {
  const { tool, arguments: args } = nextSchema.parse(next)
  return sender.post(`/${tool.replaceAll('_', '-')}`, args)
}

/** Returns the agent at a worker on which `act` happens at the third look of a waiting call. */
function whileWaiting(payer: Agent, act: () => Promise<unknown>) {
  let pauses = 0
  const worker = world.worker({
    pause: async () => {
      pauses += 1
      if (pauses === 3) await act()
    },
  })
  const sender: Sender = { post: (path, body) => worker.post(payer, path, body) }
  return { sender, pauses: () => pauses }
}

test('a payment that its owner approves is settled in two calls, sent as they were told', async () => {
  const { payer, payee, body, page } = await asked('150')
  const owner = await signedIn(world, payer)
  await owner.visit(page)
  const { sender } = whileWaiting(payer, () => owner.submit({ decision: 'approved' }))

  const settled = await follow(sender, body)

  expect(settled.body).toMatchObject({
    status: 'settled',
    consent_level: 'user_session',
    confirmation: { status: 'approved', level: 'user_session' },
  })
  expect(settled.body).not.toHaveProperty('next')
  expect(await usdcOf(world, payee)).toBe(150_000_000n)
})

test('a decline ends the wait, and names no next call', async () => {
  const { payer, payee, body, page } = await asked('150')
  const owner = await signedIn(world, payer)
  await owner.visit(page)
  const { sender } = whileWaiting(payer, () => owner.submit({ decision: 'declined' }))

  const declined = await follow(sender, body)

  expect(declined.body).toMatchObject({ status: 'declined', confirmation: { status: 'declined' } })
  expect(declined.body).not.toHaveProperty('next')
  expect(await usdcOf(world, payee)).toBe(0n)
})

test("a decline carries the owner's reason to the agent, in one line", async () => {
  const { payer, payee, transfer_id, page } = await asked('150')
  const owner = await signedIn(world, payer)
  await owner.visit(page)
  const reason = 'Too dear.\nAsk me again in January.'
  const shown = await owner.submit({ decision: 'declined', reason })

  const status = await payer.post('/transfer-status', { transfer_id })
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '150' }
  const again = await payer.post('/wallet-custodial-transfer', { ...order, transfer_id })

  const decline_reason = 'Too dear. Ask me again in January.'
  expect(shown.text).toContain(decline_reason)
  expect(status.body).toMatchObject({ confirmation: { status: 'declined', decline_reason } })
  expect(again.body).toMatchObject({
    error: 'payment_closed',
    details: { confirmation: { status: 'declined', decline_reason } },
  })
})

test('an undecided payment is answered after the seconds that were given, with the same next call', async () => {
  const { payer, body } = await asked('150')
  const { sender, pauses } = whileWaiting(payer, async () => {})

  const waiting = await follow(sender, body)

  expect(pauses()).toBe(25)
  expect(waiting.body).toMatchObject({
    status: 'awaiting_confirmation',
    confirmation: body['confirmation'],
    next: body['next'],
  })
})

test('without wait_seconds a status answers at once, and 25 are the most', async () => {
  const { payer, transfer_id } = await asked('150')
  const { sender, pauses } = whileWaiting(payer, async () => {})

  const now = await sender.post('/transfer-status', { transfer_id })
  const tooLong = await sender.post('/transfer-status', { transfer_id, wait_seconds: 26 })

  expect(now.body).toMatchObject({ status: 'awaiting_confirmation' })
  expect(tooLong).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(pauses()).toBe(0)
})

test("what an agent may confirm itself names the call with its user's word", async () => {
  const { payer, payee, body } = await asked('5')

  const sent = await follow(payer, body)
  const settled = await follow(payer, sent.body)

  expect(body['next']).toMatchObject({ arguments: { user_confirmed: true } })
  expect(sent.body).toMatchObject({ status: 'submitted', consent_level: 'agent_asserted' })
  expect(settled.body).toMatchObject({ status: 'settled', confirmation: { status: 'approved' } })
  expect(await usdcOf(world, payee)).toBe(5_000_000n)
})

test('a wish that is told again while it waits is the same payment, whoever tells it how often', async () => {
  const { payer, payee, transfer_id, page } = await asked('150')
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '150' }
  const path = '/wallet-custodial-transfer'
  const told = [order, { ...order, user_confirmed: true }, order].map((one) =>
    payer.post(path, one),
  )
  const others = [
    { ...order, memo: 'another' },
    { ...order, amount: '150.01' },
    { ...order, recipient: payee.address },
  ].map((one) => payer.post(path, one))
  const other = await payer.withKey('pay')

  const same = (await Promise.all(told)).map(({ body }) => body['transfer_id'])
  const apart = [...(await Promise.all(others)), await other.post(path, order)]

  expect(same).toEqual([transfer_id, transfer_id, transfer_id])
  expect(new Set(apart.map(({ body }) => body['transfer_id'])).size).toBe(4)
  expect(apart.map(({ body }) => body['transfer_id'])).not.toContain(transfer_id)
  const owner = await signedIn(world, payer)
  await owner.visit(page)
  await owner.submit({ decision: 'approved' })
  expect(await usdcOf(world, payee)).toBe(150_000_000n)
})

test('an equal payment within ten minutes is asked about once, and then paid', async () => {
  const payer = await world.agent('pay', { usdc: 500 })
  const payee = await world.agent('read')
  const terms = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const order = { ...terms, user_confirmed: true }
  const path = '/wallet-custodial-transfer'

  const first = await payer.post(path, order)
  const again = await payer.post(path, order)
  const still = await payer.post(path, order)
  const held = await usdcOf(world, payee)
  const meant = await follow(payer, again.body)

  expect(first.body).toMatchObject({ status: 'submitted' })
  expect(again.body).toMatchObject({
    requires_user_confirm: true,
    reasons: [{ code: 'possible_duplicate' }],
    confirmation: { level: 'agent_asserted' },
    next: { tool: 'wallet_custodial_transfer', arguments: { user_confirmed: true } },
  })
  expect(still.body['transfer_id']).toBe(again.body['transfer_id'])
  expect(held).toBe(5_000_000n)
  expect(meant.body).toMatchObject({ status: 'submitted' })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})

test('equal payments with idempotency keys, or ten minutes apart, are paid without a question', async () => {
  const payer = await world.agent('pay', { usdc: 500 })
  const payee = await world.agent('read')
  const terms = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '2' }
  const order = { ...terms, user_confirmed: true }
  const path = '/wallet-custodial-transfer'

  const paid = [
    await payer.post(path, order, { 'idempotency-key': 'first-wish' }),
    await payer.post(path, order, { 'idempotency-key': 'second-wish' }),
    await payer.post(path, order),
  ]
  await world.tick(601)
  paid.push(await payer.post(path, order))

  for (const { body } of paid) expect(body).toMatchObject({ status: 'submitted' })
  expect(await usdcOf(world, payee)).toBe(8_000_000n)
})

test.each(['5', '150'])(
  'a payment of %s that expired names no next call, and no wait is for it',
  async (amount) => {
    const { payer, transfer_id } = await asked(amount)
    await world.tick(86_401)
    const { sender, pauses } = whileWaiting(payer, async () => {})

    const { body } = await sender.post('/transfer-status', { transfer_id, wait_seconds: 5 })

    expect(body).toMatchObject({ confirmation: { status: 'expired' } })
    expect(body).not.toHaveProperty('next')
    expect(pauses()).toBe(0)
  },
)

test.each(['read', 'pay'] as const)(
  'a %s key that did not ask is told no next call',
  async (scope) => {
    const { payer, transfer_id } = await asked('150')
    const other = await payer.withKey(scope)

    const { body } = await other.post('/transfer-status', { transfer_id })

    expect(body).toMatchObject({ confirmation: { status: 'pending' } })
    expect(body).not.toHaveProperty('next')
  },
)
