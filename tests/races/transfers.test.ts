import { beforeAll, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { node } from '../support/faults/chain.ts'
import { acquainted, ended, statesOf, usdcOf } from '../support/ledger.ts'
import { anew } from '../support/wish.ts'
import { type Agent, type Answer, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC', amount: '10' }

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

function together(times: number, act: (at: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: times }, (_, at) => act(at)))
}

const statusesOf = (answers: Answer[]) => answers.map(({ body }) => body['status'])

/** Waits until the chain has settled each transfer of the answers; one that was queued is sent after its answer. */
async function allProven(payer: Agent, answers: Answer[]): Promise<void> {
  const sent = answers.filter(({ body }) => body['status'] === 'submitted')
  for (const transfer_id of new Set(sent.map(({ body }) => body['transfer_id']))) {
    expect((await ended(payer, { transfer_id })).body).toMatchObject({ status: 'settled' })
  }
}

test('of 50 transfers of 10 USD at once, exactly 20 fit into 200 USD', async () => {
  const { payer, payee } = await acquainted(world)

  const answers = await together(50, () =>
    payer.post(path, anew({ ...order, recipient: payee.alias })),
  )

  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  expect(statusesOf(answers).filter((status) => status === 'submitted')).toHaveLength(20)
  await allProven(payer, answers)
  expect(await usdcOf(world, payee)).toBe(200_000_000n)
  const { body } = await payer.get('/get-identity')
  expect(body).toMatchObject({ limits: { automatic_daily: { left_usd: '0' } } })
})

test('of 30 transfers at once, no more go through than the wallet can pay', async () => {
  const { payer, payee } = await acquainted(world, 55)

  const answers = await together(30, () =>
    payer.post(path, anew({ ...order, recipient: payee.alias })),
  )

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(new Set(refused.map(({ body }) => body['error']))).toEqual(new Set(['insufficient_funds']))
  await allProven(payer, answers)
  expect(await usdcOf(world, payee)).toBe(50_000_000n)
})

test('the same Idempotency-Key 20 times at once pays once and gives one answer', async () => {
  const { payer, payee } = await acquainted(world)
  const body = { ...order, recipient: payee.alias }

  const answers = await together(20, () => payer.post(path, body, { 'idempotency-key': 'once' }))

  expect(new Set(answers.map(({ body: answered }) => JSON.stringify(answered))).size).toBe(1)
  expect(answers[0]).toMatchObject({ status: 200, body: { status: 'submitted' } })
  await allProven(payer, answers)
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})

test('an Idempotency-Key with another body is refused, and one of another account is its own', async () => {
  const { payer, payee } = await acquainted(world)
  const other = await acquainted(world)
  const key = { 'idempotency-key': 'shared-text' }
  await payer.post(path, { ...order, recipient: payee.alias }, key)

  const changed = await payer.post(path, { ...order, amount: '11', recipient: payee.alias }, key)
  const strangers = await other.payer.post(path, { ...order, recipient: other.payee.alias }, key)

  expect(changed).toMatchObject({ status: 422, body: { error: 'idempotency_mismatch' } })
  expect(strangers).toMatchObject({ status: 200, body: { status: 'submitted' } })
})

test('an Idempotency-Key answers for 24 hours and is forgotten after them', async () => {
  const { payer, payee } = await acquainted(world)
  const body = { ...order, recipient: payee.alias }
  const send = () => payer.post(path, body, { 'idempotency-key': 'daily' })

  const first = await send()
  await world.tick(86_399)
  const within = await send()
  await world.tick(2)
  const after = await send()

  expect(within.body).toEqual(first.body)
  expect(after.body['transfer_id']).not.toBe(first.body['transfer_id'])
})

test('continuing one transfer 20 times at once pays once', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  const payee = await world.agent('read')
  const body = { ...order, recipient: payee.alias }
  const { transfer_id } = (await payer.post(path, body)).body

  const answers = await together(20, () =>
    payer.post(path, { ...body, transfer_id, user_confirmed: true }),
  )

  await allProven(payer, answers)
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
  expect(await statesOf(world, payer)).toEqual(['settled'])
})

test('what settled for good counts for a day from the end of its signature and not longer', async () => {
  const { payer, payee } = await acquainted(world)
  const send = (amount: string) =>
    payer.post(path, anew({ ...order, amount, recipient: payee.alias }))

  const whole = await send('200')
  const over = await send('0.000001')
  await allProven(payer, [whole])
  await node(world, 'anvil_mine', '0x20')
  await runHousekeeping(world.world)
  await world.tick(86_400 + 601)
  const next = await send('200')

  expect(statusesOf([whole, over, next])).toEqual([
    'submitted',
    'awaiting_confirmation',
    'submitted',
  ])
})
