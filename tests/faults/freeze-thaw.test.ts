/** Payments that a freeze reported as stopped do not leave when the owner unfreezes the account. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { refusing } from '../support/faults/answers.ts'
import { elapse, node, stopMining } from '../support/faults/chain.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { attemptOf, openMarket, prepare } from '../support/market.ts'
import { ownerOf } from '../support/owner.ts'

const world = await openMarket()

/** Returns a transfer of a frozen account that was stored and never sent. */
async function frozenTransfer() {
  const { payer, payee } = await acquainted(world)
  const cut = world.worker({ fetch: refusing('housekeeping_dispatch') })
  const sent = await cut.post(payer, transferPath, orderTo(payee))
  const { body } = await payer.post('/account-freeze', {})
  const named = { payment_id: sent.body['transfer_id'], why: 'never_sent' }
  expect(body).toMatchObject({ may_settle: [], stopped: [named] })
  return { payer, payee, owner: await ownerOf(world, payer), transfer: sent.body['transfer_id'] }
}

async function goOn() {
  for (let run = 0; run < 4; run += 1) {
    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
    await elapse(world, 61)
  }
}

test('a transfer that nothing was done about yet', async () => {
  const { payee, owner } = await frozenTransfer()

  expect(await owner.unfreeze()).toEqual([{ unfrozen: true }])
  await goOn()

  expect(await usdcOf(world, payee)).toBe(0n)
})

test('a transfer whose place was replaced', async () => {
  const { payee, owner, transfer } = await frozenTransfer()
  await stopMining(world)
  await runHousekeeping(world.world)

  await owner.unfreeze()
  await elapse(world, 61)
  await runHousekeeping(world.world)
  const out = await world.db.sql`select 1 from private.relay_transactions
     where ${String(transfer)} = any (carries) and dispatched_at is not null`
  await node(world, 'evm_setAutomine', true)
  await goOn()

  expect(out).toHaveLength(0)
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('a transfer whose account is frozen again', async () => {
  const { payer, payee, owner } = await frozenTransfer()
  await stopMining(world)

  await owner.unfreeze()
  await runHousekeeping(world.world)
  const again = await payer.post('/account-freeze', {})
  await node(world, 'evm_setAutomine', true)
  await goOn()

  expect(again.body).toMatchObject({ may_settle: [], stopped: [{ why: 'never_sent' }] })
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('a purchase that was signed and handed to nobody', async () => {
  const agent = await world.agent('pay', { usdc: 1 })
  const prepared = await prepare(agent, { resource_url: world.merchant.v2Url })
  const order = { attempt_id: attemptOf(prepared), user_confirmed: true }
  const dying = world.worker({ fetch: refusing('hand_over') })
  await dying.post(agent, '/x402-payment-execute', order)
  const frozen = await agent.post('/account-freeze', {})

  await (await ownerOf(world, agent)).unfreeze()
  await elapse(world, 61)
  // A repeat would wait for the worker that holds the payment, and that worker is gone.
  const impatient = world.worker({ pause: async () => undefined })
  const executed = await impatient.post(agent, '/x402-payment-execute', order)

  expect(frozen.body).toMatchObject({ may_settle: [], stopped: [{ why: 'never_sent' }] })
  expect(executed.body['status']).not.toBe('settled')
  expect(await world.usdcOf(agent.address)).toBe(1_000_000n)
})
