/** Counts the round trips that an agent waits for, one after the other. Nothing else waits. */
import { beforeAll, expect, test } from 'vitest'
import type { Fetch } from '../../shared/world.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { askedFor } from '../support/held.ts'
import { acquainted } from '../support/ledger.ts'
import { attemptOf, openMarket } from '../support/market.ts'
import type { Agent, Worker } from '../support/world.ts'

const market = await openMarket()
const purchase = { resource_url: market.merchant.v2Url }

let payer: Agent
let payee: Agent
beforeAll(async () => {
  ;({ payer, payee } = await acquainted(market))
})

/** Returns what a worker asks, in order: SQL functions, `chain` and `merchant`. */
async function tripsOf(run: (worker: Worker) => Promise<{ status: number }>): Promise<string[]> {
  const trips: string[] = []
  const network: Fetch = (input, init) => {
    const { href } = new URL(input instanceof Request ? input.url : String(input))
    if (href.startsWith(market.merchant.url)) trips.push('merchant')
    else trips.push(href.startsWith(market.chain.rpcUrl) ? 'chain' : askedFor(input, init))
    return fetch(input, init)
  }
  const pause = () => Promise.reject(new Error('it waits'))
  const answer = await run(market.worker({ fetch: network, pause }))
  expect(answer.status).toBe(200)
  return trips
}

test('a transfer', async () => {
  const trips = await tripsOf((worker) => worker.post(payer, transferPath, orderTo(payee)))

  expect(trips).toEqual(['begin_payment', 'chain', 'custody_authorize', 'custody_record', 'chain'])
})

test('a transfer with an Idempotency-Key', async () => {
  const trips = await tripsOf((worker) =>
    worker.post(payer, transferPath, orderTo(payee), { 'idempotency-key': 'one-of-its-own' }),
  )

  expect(trips).toEqual([
    'claim_idempotency',
    'begin_payment',
    'chain',
    'custody_authorize',
    'custody_record',
    'chain',
    'keep_answer',
  ])
})

test('preparing a purchase', async () => {
  const trips = await tripsOf((worker) => worker.post(payer, '/x402-payment-prepare', purchase))

  expect(trips).toEqual(['purchase_facts', 'merchant', 'chain', 'begin_payment'])
})

test('executing a purchase', async () => {
  const prepared = await payer.post('/x402-payment-prepare', purchase)
  const order = { attempt_id: attemptOf(prepared), user_confirmed: true }

  const trips = await tripsOf((worker) => worker.post(payer, '/x402-payment-execute', order))

  const atOnce = new Set(['housekeeping_finish_attempt', 'chain'])
  expect([...trips.slice(0, 3), new Set(trips.slice(3, 5)), ...trips.slice(5)]).toEqual([
    'custody_confirm',
    'custody_record',
    'merchant',
    atOnce,
    'housekeeping_note',
  ])
})

test.each([
  '/get-identity',
  '/account-exposure',
  '/wallet-activity-list',
  '/vault-list',
  '/mail-list',
])('%s asks the database once', async (path) => {
  expect(await tripsOf((worker) => worker.get(payer, path))).toHaveLength(1)
})
