/** Requests with refused texts, the own wallet, other terms or unknown paths leave nothing behind. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import notFound from '../../functions/not-found/index.ts'
import { start } from '../support/world.ts'

const product = await start({ chain: true })
const order = { chain: 'base-sepolia', token: 'USDC', amount: '1' }
const counted = z.tuple([z.object({ count: z.string() })])

async function payments(): Promise<string> {
  const rows = await product.db.sql`select count(*) from private.payments`
  return counted.parse([...rows])[0].count
}

test.each([
  ['NUL', 'a\0b'],
  ['an unpaired surrogate', 'a\ud800b'],
])('text with %s is refused before anything is done', async (_name, memo) => {
  const agent = await product.agent('pay')
  const payee = await product.agent('read')
  const before = await payments()

  const { status, body } = await agent.post('/wallet-custodial-transfer', {
    ...order,
    recipient: payee.alias,
    memo,
  })

  expect([status, body['error']]).toEqual([400, 'invalid_request'])
  expect(await payments()).toBe(before)
})

test('a payment to the own wallet is refused and not entered', async () => {
  const agent = await product.agent('pay')
  const before = await payments()

  const transfer = { ...order, recipient: agent.alias }
  const { status, body } = await agent.post('/wallet-custodial-transfer', transfer)

  expect([status, body['error']]).toEqual([422, 'recipient_refused'])
  expect(await payments()).toBe(before)
})

test('who goes on with a transfer under other terms changes nothing of it', async () => {
  const agent = await product.agent('pay', { usdc: 5 })
  const payee = await product.agent('read')
  const transfer = { ...order, recipient: payee.alias }
  const { body } = await agent.post('/wallet-custodial-transfer', transfer)
  const row = () => product.db.sql`
    select * from private.payments where id = ${z.uuid().parse(body['transfer_id'])}`
  const before = await row()
  const other = await agent.withKey('pay')

  const refused = await other.post('/wallet-custodial-transfer', {
    ...transfer,
    amount: '2',
    transfer_id: body['transfer_id'],
  })

  expect(refused.body['error']).toBe('terms_changed')
  expect([...(await row())]).toEqual([...before])
})

test('a path that does not exist is answered to HEAD without a body', async () => {
  const answer = notFound.fetch(new Request('http://aoa/nowhere', { method: 'HEAD' }))

  expect([answer.status, await answer.text()]).toEqual([404, ''])
})
