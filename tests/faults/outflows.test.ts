/**
 * Each transfer out of a wallet is in the books, or the account is frozen and owner and operator are
 * told.
 */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { newKey, transfer } from '../support/chain-world.ts'
import { headOf, payAs, sendAs, transferFrom } from '../support/deposits.ts'
import { node } from '../support/faults/chain.ts'
import { statesOf, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import {
  alarmsOf,
  countedOf,
  feedOf,
  isFrozen,
  owned,
  passGrace,
  signedPermit,
  verdictsOn,
} from '../support/outflows.ts'
import { signedPayment } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { finalize, start } from '../support/world.ts'

const blockSchema = z.object({ hash: z.string() })

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
  await indexTransfers(world.world)
})

/** Releases a payment in the books, as a lying endpoint could cause. */
async function giveUp(payment: string): Promise<void> {
  await world.db.sql`update private.payments set state = 'released',
    failure = 'the authorization expired unused' where id = ${payment}`
}

const permitted = (agent: Agent, payee: string, scheme?: 'exact' | 'upto') =>
  signedPermit(world, agent, payee, scheme)

test('a signature that was given up and is used counts again, freezes and alarms', async () => {
  const { agent, told } = await owned(world)
  const payee = newKey().at
  const signed = await signedPayment(world, agent, payee)
  await giveUp(signed.paymentId)
  const before = await countedOf(world, agent)
  await sendAs(world, newKey().at, signed.calldata)

  await passGrace(world)

  expect(await usdcOf(world, agent)).toBe(995_000_000n)
  expect([before, await countedOf(world, agent)]).toEqual(['0', '5000000'])
  expect(await verdictsOn(world, agent)).toEqual([
    { verdict: 'rebooked', payment: signed.paymentId },
  ])
  expect(await statesOf(world, agent)).toEqual(['settled'])
  expect(await isFrozen(world, agent)).toBe(true)
  expect(alarmsOf(world, agent)).toEqual(['payment_rebooked'])
  expect((await feedOf(agent)).slice(0, 2)).toMatchObject([
    { type: 'account_frozen', summary: textWith('by the service') },
    { type: 'x402_rebooked', summary: textWith('Pay 5 USDC'), status: 'settled' },
  ])
  expect(await told()).toEqual(['Money left your account that was not booked'])
})

test('a transfer that no payment accounts for freezes the account and alarms', async () => {
  const { agent, told } = await owned(world)
  const thief = newKey().at
  await sendAs(world, agent.address, transfer(thief, 7_000_000n))

  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'unknown', payment: null }])
  expect(await isFrozen(world, agent)).toBe(true)
  expect(alarmsOf(world, agent)).toEqual(['unknown_outflow'])
  expect((await feedOf(agent)).slice(0, 2)).toMatchObject([
    { type: 'account_frozen' },
    {
      type: 'unknown_transfer',
      summary: textWith(`7 USDC left the wallet on Base Sepolia for ${thief}`),
    },
  ])
  expect(await told()).toEqual(['Money left your account that was not booked'])
})

test('nothing is told twice, and an account that its owner unfroze stays so', async () => {
  const { agent, told } = await owned(world)
  await sendAs(world, agent.address, transfer(newKey().at, 1n))
  await passGrace(world)
  await world.db.sql`update private.accounts set frozen_at = null where id = ${agent.id}`

  await passGrace(world)

  expect(await isFrozen(world, agent)).toBe(false)
  expect([alarmsOf(world, agent).length, (await told()).length]).toEqual([1, 1])
})

test('before its block is final and two minutes have passed, nobody is frozen', async () => {
  const { agent } = await owned(world)
  await sendAs(world, agent.address, transfer(newKey().at, 1n))
  await world.tick(300)
  await indexTransfers(world.world)
  const early = await isFrozen(world, agent)
  await finalize(world.chain)
  await indexTransfers(world.world)
  await world.tick(118)
  await indexTransfers(world.world)
  const late = await isFrozen(world, agent)
  await passGrace(world)

  expect([early, late, await isFrozen(world, agent)]).toEqual([false, false, true])
})

test('what anybody can write in the name of a wallet is none of it', async () => {
  const { agent } = await owned(world)
  const other = await world.agent('read')
  await sendAs(world, newKey().at, transferFrom(agent.address, other.address, 0n))
  await sendAs(world, newKey().at, transferFrom(agent.address, newKey().at, 0n))
  await payAs(world, agent.address, agent.address, 1n)

  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([])
  expect(await isFrozen(world, agent)).toBe(false)
})

test('a transfer to another wallet of the service is its deposit, and counted for its payer', async () => {
  const { agent } = await owned(world)
  const { agent: payee } = await owned(world, 0)
  const signed = await signedPayment(world, agent, payee.address)
  await sendAs(world, newKey().at, signed.calldata)
  await agent.post('/transfer-status', { transfer_id: signed.paymentId })

  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment: signed.paymentId }])
  expect(await feedOf(payee)).toMatchObject([{ type: 'received', summary: textWith('5 USDC') }])
  expect([await isFrozen(world, agent), await isFrozen(world, payee)]).toEqual([false, false])
})

test('what the watch has not booked yet waits for it, and is put first in its line', async () => {
  const { agent } = await owned(world)
  const signed = await signedPayment(world, agent, newKey().at)
  await sendAs(world, newKey().at, signed.calldata)
  await world.db.sql`update private.payments set checked_at = private.clock()
    where id = ${signed.paymentId}`

  await passGrace(world)

  const [row] = await world.db.sql`select checked_at, state from private.payments
    where id = ${signed.paymentId}`
  expect(row).toEqual({ checked_at: null, state: 'signed' })
  expect(await verdictsOn(world, agent)).toEqual([{ verdict: null, payment: null }])
  expect(await isFrozen(world, agent)).toBe(false)
})

test('a transfer waits until it is known that its permit was used, and nobody is frozen', async () => {
  const { agent } = await owned(world)
  const payment = await permitted(agent, newKey().at)
  const payee = await payeeOf(payment)
  await sendAs(world, agent.address, transfer(payee, 3_000_000n))
  await passGrace(world)
  await world.db
    .sql`update private.payments set valid_before = 1, checked_at = private.clock() where id = ${payment}`
  await world.tick(700)
  await indexTransfers(world.world)
  const waiting = [await statesOf(world, agent), await verdictsOn(world, agent)]
  await world.db.sql`update private.payments set state = 'settled', finality = 'finalized',
    settled_at = private.clock() where id = ${payment}`
  await world.tick(700)
  await indexTransfers(world.world)

  expect(waiting).toEqual([['signed'], [{ verdict: null, payment: null }]])
  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment }])
  expect(await countedOf(world, agent)).toBe('5000000')
  expect(await isFrozen(world, agent)).toBe(false)
})

async function payeeOf(payment: string): Promise<`0x${string}`> {
  const [row] = await world.db.sql<{ payee: `0x${string}` }[]>`
    select payee from private.payments where id = ${payment}`
  if (!row) throw new Error('no payment')
  return row.payee
}

test('a permit that was given up and is used counts again in full', async () => {
  const { agent } = await owned(world)
  const payment = await permitted(agent, newKey().at)
  await giveUp(payment)
  await sendAs(world, agent.address, transfer(await payeeOf(payment), 3_000_000n))

  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'rebooked', payment }])
  expect(await countedOf(world, agent)).toBe('5000000')
  expect(await isFrozen(world, agent)).toBe(true)
})

test('a permit that is booked with less than its log moved counts what it moved', async () => {
  const { agent } = await owned(world)
  const payment = await permitted(agent, newKey().at)
  const hash = await sendAs(world, agent.address, transfer(await payeeOf(payment), 3_000_000n))
  await world.db.sql`update private.payments set state = 'settled', tx_hash = ${hash},
    block_hash = ${hash}, block_number = authorized_block, log_index = 0, finality = 'finalized',
    settled_at = private.clock(), settled_atomic = 1 where id = ${payment}`

  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'rebooked', payment }])
  expect(await countedOf(world, agent)).toBe('3000000')
  expect(await isFrozen(world, agent)).toBe(true)
})

test('two permits settled by one log own one, and the other transfer finds the second', async () => {
  const { agent } = await owned(world)
  const payee = newKey().at
  const first = await permitted(agent, payee, 'exact')
  const second = await permitted(agent, payee, 'exact')
  const hash = await sendAs(world, agent.address, transfer(payee, 5_000_000n))
  await sendAs(world, agent.address, transfer(payee, 5_000_000n))
  await world.db.sql`update private.payments set state = 'settled', tx_hash = ${hash},
    block_hash = ${hash}, block_number = ${await headOf(world)}, log_index = null, finality = 'finalized',
    settled_at = private.clock() where account = ${agent.id}`

  await passGrace(world)

  const verdicts = await verdictsOn(world, agent)
  expect(new Set(verdicts.map(({ payment }) => payment))).toEqual(new Set([first, second]))
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['booked', 'booked'])
  expect(await isFrozen(world, agent)).toBe(false)
})

test.each([
  ['is settled in its block', true],
  ['was used, nobody knows where', false],
])('a transfer belongs to the permit that %s, not to one never seen used', async (_, isPlaced) => {
  const { agent } = await owned(world)
  const payee = newKey().at
  await world.acquaint(agent, payee)
  const [unused, ended, used] = [
    await permitted(agent, payee, 'exact'),
    await permitted(agent, payee, 'exact'),
    await permitted(agent, payee, 'exact'),
  ]
  await giveUp(ended)
  await sendAs(world, agent.address, transfer(payee, 5_000_000n))
  const block = await headOf(world)
  const { hash } = blockSchema.parse(
    await node(world, 'eth_getBlockByNumber', `0x${block.toString(16)}`, false),
  )
  const place = isPlaced ? { block_number: `${block}`, block_hash: hash } : {}
  await world.db.sql`update private.payments set ${world.db.sql({
    state: 'settled',
    finality: 'finalized',
    settled_at: new Date(),
    ...place,
  })} where id = ${used}`
  await world.db
    .sql`update private.payments set valid_before = 1, checked_at = private.clock() where id = ${unused}`

  await passGrace(world)
  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment: used }])
  expect((await statesOf(world, agent)).toSorted()).toEqual(['released', 'settled', 'signed'])
  expect(await isFrozen(world, agent)).toBe(false)
})
