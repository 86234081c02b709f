/** An Idempotency-Key still holds a day after its worker died before storing the answer. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { newKey } from '../support/chain-world.ts'
import { openMarket } from '../support/market.ts'

const market = await openMarket()
const key = { 'idempotency-key': 'rent-of-the-month' }
const usdc = 1_000_000n

const order = (recipient: string, amount: string) => ({
  recipient,
  chain: 'base-sepolia',
  token: 'USDC',
  amount,
  user_confirmed: true,
})

async function settle() {
  for (let minute = 0; minute < 3; minute += 1) {
    await runHousekeeping(market.world)
    await market.passOnChain(60)
    await market.tick(60)
  }
}

/** Pays 3 USDC under the key in an isolate that dies as soon as the payment is signed. */
async function dyingPayment() {
  const agent = await market.agent('pay', { usdc: 100 })
  const payee = newKey().at
  let isDead = false
  const worker = market.worker({
    fetch: async (input, init) => {
      const url = input instanceof Request ? input.url : String(input)
      if (isDead) throw new Error('dead')
      const answer = await fetch(input, init)
      if (url.includes('custody_record')) isDead = true
      return answer
    },
  })
  await worker
    .post(agent, '/wallet-custodial-transfer', order(payee, '3'), key)
    .catch(() => undefined)
  await settle()
  return { agent, payee }
}

async function dayLater() {
  await market.tick(86_400)
  await market.passOnChain(86_400)
}

test('another order under the key is refused for a day, and is then one of its own', async () => {
  const { agent, payee } = await dyingPayment()
  const other = newKey().at

  const early = await agent.post('/wallet-custodial-transfer', order(other, '7'), key)
  await dayLater()
  const late = await agent.post('/wallet-custodial-transfer', order(other, '7'), key)
  await settle()
  const again = await agent.post('/wallet-custodial-transfer', order(other, '7'), key)

  expect(early.body).toMatchObject({ error: 'idempotency_mismatch' })
  expect([late.body['amount'], again.body['transfer_id']]).toEqual(['7', late.body['transfer_id']])
  expect([await market.usdcOf(payee), await market.usdcOf(other)]).toEqual([3n * usdc, 7n * usdc])
})

test('the same order under the key goes on with the payment that was made, however late', async () => {
  const { agent, payee } = await dyingPayment()
  await dayLater()

  const late = await agent.post('/wallet-custodial-transfer', order(payee, '3'), key)
  await settle()

  expect(late.status).toBe(200)
  expect(await market.usdcOf(payee)).toBe(3n * usdc)
})
