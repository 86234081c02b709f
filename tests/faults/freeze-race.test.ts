/** A freeze stops a request or a run of housekeeping that is about to send. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import type { Fetch } from '../../shared/world.ts'
import { elapse, node, stopMining } from '../support/faults/chain.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, statesOf, usdcOf } from '../support/ledger.ts'
import { attemptOf, openMarket, prepare } from '../support/market.ts'
import type { Agent, Answer } from '../support/world.ts'

const world = await openMarket()

/** Freezes the account once the ledger has answered a call of this name, then lets `seconds` pass. */
function freezingAfter(name: string, payer: () => Agent, seconds = 0) {
  const answers: Answer[] = []
  const through: Fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const { url } = new Request(input, { method: 'HEAD' })
    if (answers.length > 0 || !url.endsWith(`/${name}`)) return answer
    answers.push(await payer().post('/account-freeze', {}))
    if (seconds > 0) await elapse(world, seconds)
    return answer
  }
  return { worker: world.worker({ fetch: through }), answers }
}

const knownToNode = (hash: unknown) => node(world, 'eth_getTransactionByHash', hash)

test('a transfer that is authorized and not let out is not sent after a freeze', async () => {
  const { payer, payee } = await acquainted(world)
  const { worker, answers } = freezingAfter('custody_authorize', () => payer)

  const sent = await worker.post(payer, transferPath, orderTo(payee))
  await runHousekeeping(world.world)

  expect(sent).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  expect(answers[0]?.body).toMatchObject({ may_settle: [], stopped: [] })
  expect(await statesOf(world, payer)).toEqual(['released'])
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('a transfer that was let out is named as on its way, however slow its worker is', async () => {
  await elapse(world, 6)
  const { payer, payee } = await acquainted(world)
  await stopMining(world)
  const { worker, answers } = freezingAfter('custody_record', () => payer, 3)

  const sent = await worker.post(payer, transferPath, orderTo(payee))

  const named = { payment_id: sent.body['transfer_id'], why: 'in_transaction' }
  expect(answers[0]?.body).toMatchObject({ may_settle: [named], stopped: [] })
  expect(await knownToNode(sent.body['tx_hash'])).not.toBeNull()
})

test('what housekeeping read before a freeze is not sent again after it', async () => {
  const { payer, payee } = await acquainted(world)
  await stopMining(world)
  const sent = await world.worker().post(payer, transferPath, orderTo(payee))
  await node(world, 'anvil_dropTransaction', sent.body['tx_hash'])
  const { worker, answers } = freezingAfter('housekeeping_slots', () => payer)

  await runHousekeeping(worker.world)

  expect(await knownToNode(sent.body['tx_hash'])).toBeNull()
  expect(answers[0]?.body).toMatchObject({ may_settle: [{ why: 'in_transaction' }] })
})

test('a transaction that an endpoint took and denies is named as on its way', async () => {
  const { payer, payee } = await acquainted(world)
  await stopMining(world)
  const sent = await world.worker().post(payer, transferPath, orderTo(payee))
  await node(world, 'anvil_dropTransaction', sent.body['tx_hash'])

  const frozen = await payer.post('/account-freeze', {})

  expect(frozen.body).toMatchObject({ may_settle: [{ why: 'in_transaction' }] })
  await elapse(world, 61)
})

test('a purchase whose signature was let out is named as one that its merchant has', async () => {
  const agent = await world.agent('pay', { usdc: 1 })
  const prepared = await prepare(agent, { resource_url: world.merchant.v2Url })
  const { worker, answers } = freezingAfter('custody_record', () => agent)

  const order = { attempt_id: attemptOf(prepared), user_confirmed: true }
  await worker.post(agent, '/x402-payment-execute', order)

  const named = { payment_id: attemptOf(prepared), why: 'handed_over' }
  expect(answers[0]?.body).toMatchObject({ may_settle: [named], stopped: [] })
  expect(await world.usdcOf(agent.address)).toBe(990_000n)
})

test('a purchase that is authorized and not handed over yet is kept from the merchant', async () => {
  const agent = await world.agent('pay', { usdc: 1 })
  const prepared = await prepare(agent, { resource_url: world.merchant.v2Url })
  const { worker, answers } = freezingAfter('custody_confirm', () => agent)

  const order = { attempt_id: attemptOf(prepared), user_confirmed: true }
  const executed = await worker.post(agent, '/x402-payment-execute', order)

  expect(executed).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  expect(answers[0]?.body).toMatchObject({ may_settle: [], stopped: [] })
  expect(await world.usdcOf(agent.address)).toBe(1_000_000n)
})
