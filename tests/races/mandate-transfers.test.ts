import { expect, test } from 'vitest'
import { resolveAll, settledAsOnChain } from '../support/books.ts'
import { inForm } from '../support/cases.ts'
import { usdcOf } from '../support/ledger.ts'
import { giveMandate } from '../support/mandates.ts'
import { anew } from '../support/wish.ts'
import { type Answer, start } from '../support/world.ts'

const world = await start({ chain: true, gasPayers: 2 })
const fitting = inForm(25, 100)
const offered = 2 * fitting
const order = { chain: 'base-sepolia', token: 'USDC', amount: '0.1' }

/** Returns an account that knows nobody, with a mandate that names its payee and covers half of what is offered. */
async function pinned() {
  const payer = await world.agent('full', { usdc: 100 })
  const payee = await world.agent('read')
  const terms = { max_total_usd_micros: String(fitting * 100_000), pay_to: [payee.address] }
  const { id } = await giveMandate(world, payer, terms)
  await world.db.sql`update private.credentials set burst = 10000 where account = ${payer.id}`
  const send = () =>
    payer.post('/wallet-custodial-transfer', anew({ ...order, recipient: payee.address }))
  return { payer, payee, id, send }
}

const wentThrough = ({ body }: Answer) => body['consent_level'] === 'mandate'

test('of many transfers at once, those that a mandate has room for arrive, and no other', async () => {
  const { payer, payee, id, send } = await pinned()

  const answers = await Promise.all(Array.from({ length: offered }, send))
  await resolveAll(world)

  const others = answers.filter((one) => !wentThrough(one))
  expect(new Set(others.map(({ body }) => body['status']))).toEqual(
    new Set(['awaiting_confirmation']),
  )
  expect(answers.filter(wentThrough).length).toBeLessThanOrEqual(fitting)
  expect(await settledAsOnChain(world, payer)).toHaveLength(fitting)
  expect(await usdcOf(world, payee)).toBe(BigInt(fitting) * 100_000n)
  const { body } = await payer.get(`/payment-mandate-status?mandate_id=${id}`)
  expect(body).toMatchObject({
    mandates: [{ status: 'exhausted', spent: { payments: fitting }, left: { total_usd: '0' } }],
  })
}, 120_000)

test('once a mandate is revoked amid transfers, no later one is carried by it', async () => {
  const { payer, payee, id, send } = await pinned()
  let ended = 0
  const requests = Array.from({ length: 60 }, async () => {
    const answer = await send()
    ended += 1
    return answer
  })

  await Promise.race(requests)
  const before = ended
  const revoked = await payer.post('/payment-mandate-revoke', { mandate_id: id })
  const late = await send()
  const carried = (await Promise.all(requests)).filter(wentThrough).length
  await resolveAll(world)

  expect(before).toBeGreaterThan(0)
  expect(revoked).toMatchObject({ status: 200, body: { status: 'revoked' } })
  expect(late.body).toMatchObject({ status: 'awaiting_confirmation' })
  const settled = (await settledAsOnChain(world, payer)).length
  expect(settled).toBeGreaterThanOrEqual(carried)
  expect(settled).toBeLessThanOrEqual(requests.length)
  expect(await usdcOf(world, payee)).toBe(BigInt(settled) * 100_000n)
}, 120_000)
