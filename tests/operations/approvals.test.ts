/** The owner's decision about a waiting payment binds every repeat of the agent. */
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { proven, usdcOf } from '../support/ledger.ts'
import { ownerOf, paymentOf } from '../support/owner.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
/** Order above every limit on the agent's word, and below the cap. */
const order = { chain: 'base-sepolia', token: 'USDC', amount: '500' }

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const asking = z.object({
  transfer_id: z.uuid(),
  confirmation: z.object({ url: z.url(), digest: z.string(), status: z.string() }),
})

/** Sends a transfer that waits for the owner. Returns it with the call that continues it. */
async function waiting(amount = order.amount, given?: { payer: Agent; recipient: string }) {
  const payer = given?.payer ?? (await world.agent('pay', { usdc: 2000 }))
  const payee = await world.agent('read')
  const body = { ...order, amount, recipient: given?.recipient ?? payee.address }
  const asked = await payer.post(path, { ...body, user_confirmed: true })
  const { transfer_id, confirmation } = asking.parse(asked.body)
  const repeat = (isConfirmed = true, agent = payer, headers = {}) =>
    agent.post(path, { ...body, transfer_id, user_confirmed: isConfirmed }, headers)
  const owner = await ownerOf(world, payer)
  return { payer, payee, transfer_id, confirmation, repeat, owner, asked }
}

test('a payment that needs the owner says where the owner approves it', async () => {
  const { asked, transfer_id } = await waiting()

  expect(asked.body).toMatchObject({
    status: 'awaiting_confirmation',
    confirmation: {
      level: 'user_session',
      status: 'pending',
      url: `http://localhost/web/approve/${transfer_id}`,
    },
  })
  expect(asked.body['would_pass']).toContainEqual({
    change: 'ask_owner_to_approve',
    user_confirmed: true,
  })
})

test('what the owner approved is paid once, however often and at once it is repeated', async () => {
  const { payer, payee, transfer_id, repeat, owner } = await waiting()
  expect(await repeat()).toMatchObject({ body: { status: 'awaiting_confirmation' } })

  expect(await owner.decide(transfer_id, 'approved')).toBe('approved')
  const told = await repeat(false)
  const repeats = await Promise.all([repeat(), repeat(), repeat()])

  expect(told.body).toMatchObject({
    status: 'awaiting_confirmation',
    confirmation: { status: 'approved' },
  })
  for (const { body } of repeats) {
    expect(body).toMatchObject({ status: 'submitted', consent_level: 'user_session' })
  }
  // The transfer is submitted, but not mined yet.
  const held = async () => [await usdcOf(world, payer), await usdcOf(world, payee)]
  await expect.poll(held).toEqual([1_500_000_000n, 500_000_000n])
})

test('what the owner approved uses up neither limit, and no more of the cap than its amount', async () => {
  const { payer, transfer_id, repeat, owner } = await waiting()
  await owner.decide(transfer_id, 'approved')
  await repeat()

  expect((await payer.get('/get-identity')).body).toMatchObject({
    limits: {
      automatic_daily: { left_usd: '200' },
      asserted_daily: { left_usd: '200' },
      daily_spending_cap: { left_usd: '500' },
    },
  })
})

test('what the owner declined is closed, and the agent hears so', async () => {
  const { payer, payee, transfer_id, repeat, owner } = await waiting()

  expect(await owner.decide(transfer_id, 'declined')).toBe('declined')
  const answer = await repeat()

  expect(answer).toMatchObject({
    status: 409,
    body: {
      error: 'payment_closed',
      message: 'The owner declined this payment.',
      details: { confirmation: { status: 'declined' } },
    },
  })
  expect((await payer.post('/transfer-status', { transfer_id })).body).toMatchObject({
    status: 'declined',
  })
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('an approval can be taken back until it is used, and a decline never', async () => {
  const { transfer_id, repeat, owner } = await waiting()

  const words = ['approved', 'declined', 'approved'] as const
  const outcomes = []
  for (const word of words) outcomes.push(await owner.decide(transfer_id, word))

  expect(outcomes).toEqual(['approved', 'declined', 'closed'])
  expect(await repeat()).toMatchObject({ body: { error: 'payment_closed' } })
})

test('declining all closes what waits and nothing else', async () => {
  const { payer, transfer_id, owner } = await waiting()
  const stranger = await waiting()
  const paid = await waiting('20', { payer, recipient: stranger.payee.address })
  await owner.decide(paid.transfer_id, 'approved')
  await paid.repeat()

  expect(await owner.call('owner_decline_all')).toEqual([{ declined: 1 }])

  const ids = [transfer_id, paid.transfer_id, stranger.transfer_id]
  const states = await Promise.all(ids.map((id) => paymentOf(world.db, id)))
  expect(states.map(({ state }) => state)).toEqual(['declined', 'signed', 'awaiting_confirmation'])
})

test('an imitation that the owner approved is paid, and is never known', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  const known = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const imitation = `0x7099${'0'.repeat(32)}79c8`
  await world.acquaint(payer, known)
  const { transfer_id, repeat, owner } = await waiting('1', { payer, recipient: imitation })
  await owner.decide(transfer_id, 'approved')

  const sent = await repeat()
  expect(sent.body).toMatchObject({ consent_level: 'user_session' })
  await proven(payer, sent.body['tx_hash'])

  expect(await paymentOf(world.db, transfer_id)).toMatchObject({ state: 'settled' })
  const recipients = await owner.call('owner_list_recipients', { listed_max: 9 })
  expect(recipients).toMatchObject([{ address: known, paid_usd_micros: '0' }])
  const again = await payer.post(path, { ...order, amount: '1', recipient: known })
  expect(again.body).toMatchObject({ requires_user_confirm: false })
})

test('another device of the key pays what was approved, and no device is known by it', async () => {
  const { payer, transfer_id, repeat, owner } = await waiting()
  await owner.decide(transfer_id, 'approved')

  const sent = await repeat(true, payer, { 'x-device-id': 'other' })
  expect(sent.body).toMatchObject({ status: 'submitted' })
  await proven(payer, sent.body['tx_hash'])

  expect(await owner.call('owner_list_devices', { listed_max: 9 })).toEqual([])
})

describe('an approval does not count', () => {
  test('over the daily cap, which no word of anybody passes', async () => {
    const { payer, payee, repeat, owner, transfer_id } = await waiting('600')
    const second = await waiting('600.01', { payer, recipient: payee.address })
    await owner.decide(transfer_id, 'approved')
    await owner.decide(second.transfer_id, 'approved')

    expect((await repeat()).body).toMatchObject({ status: 'submitted' })
    expect((await second.repeat()).body).toMatchObject({ error: 'limit_exceeded' })
  })

  test('when the terms are not those that were shown', async () => {
    const { transfer_id, owner, confirmation } = await waiting()
    const digest = confirmation.digest.replace(/^./, (first) => (first === '0' ? '1' : '0'))

    const question = { payment: transfer_id, decision: 'approved', digest }
    expect(await owner.call('owner_decide_payment', question)).toEqual([
      { outcome: 'terms_changed' },
    ])
  })

  test.each(['payee', 'amount_atomic', 'token', 'chain'])(
    'once the %s is another, not even for custody alone',
    async (column) => {
      const { payer, transfer_id, repeat, owner } = await waiting()
      await owner.decide(transfer_id, 'approved')
      const other = { payee: `0x${'1'.repeat(40)}`, token: `0x${'2'.repeat(40)}` }
      const value =
        column in other ? `'${Object.entries(other).find(([k]) => k === column)?.[1]}'` : '1'
      await world.db.sql.unsafe(
        `update private.payments set ${column} = ${value} where id = '${transfer_id}'`,
      )

      const [{ outcome } = { outcome: '' }] = await world.db.sql<{ outcome: string }[]>`
        select outcome from private.credentials k, private.accounts a, api.custody_authorize(
          k.digest, ${transfer_id}, 'user_session', a.facts_version, '9000000000', 0,
          extract(epoch from private.clock())::bigint + 600, 45, seen_block => 1,
          cost_wei => '1')
        where k.account = ${payer.id} and k.kind = 'api_key' and a.id = k.account`

      expect(outcome).toBe('stale')
      expect(await repeat()).not.toMatchObject({ body: { status: 'submitted' } })
    },
  )

  test('from an owner who proved itself long ago, who may still decline', async () => {
    const { payer, transfer_id } = await waiting()
    const stale = await ownerOf(world, payer, 11)

    expect(await stale.decide(transfer_id, 'approved')).toEqual({ refused: 'proof_required' })
    expect(await stale.decide(transfer_id, 'declined')).toBe('declined')
  })

  test('in an account that is frozen', async () => {
    const { payer, transfer_id, owner } = await waiting()
    await payer.post('/account-freeze', {})

    expect(await owner.decide(transfer_id, 'approved')).toEqual({ refused: 'account_frozen' })
  })

  test('for the payment of a stranger, which answers as one that is missing', async () => {
    const { transfer_id } = await waiting()
    const { owner } = await waiting()

    expect(await owner.decide(transfer_id, 'approved')).toBe('not_found')
    expect(await owner.call('owner_read_approvals', { payments: [transfer_id] })).toEqual([])
  })

  test('a day after the payment was entered', async () => {
    const { transfer_id, repeat, owner } = await waiting()
    await owner.decide(transfer_id, 'approved')
    const late = await waiting()
    await world.tick(86_401)
    const lateOwner = await ownerOf(world, late.payer)

    expect(await lateOwner.decide(late.transfer_id, 'approved')).toBe('expired')
    expect(await repeat()).toMatchObject({ body: { error: 'payment_closed' } })
  })
})
