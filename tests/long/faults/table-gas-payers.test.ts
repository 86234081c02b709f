/** Rows of the fault table hold for relayers and for the ways around them. */
import { beforeEach, expect, test } from 'vitest'
import { issuer } from '../../../scripts/local/chain/fund.ts'
import { fund } from '../../../scripts/local/chain.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { transfer as transferCall } from '../../support/chain-world.ts'
import { elapse, node, pass, sendAs, stopMining } from '../../support/faults/chain.ts'
import {
  holdGasPayers,
  onePair,
  orderTo,
  outcomeOf,
  outcomesOf,
  paidOnce,
  pairs,
  transfer,
  transferPath,
} from '../../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../../support/faults/settle.ts'
import { start, type TestWorld } from '../../support/world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true, gasPayers: 2 })
})

type GasPayer = { address: string; next: number; paused: string | null }

/** Returns the relayers in the order of their last use. */
async function gasPayers(): Promise<GasPayer[]> {
  return world.db.sql<GasPayer[]>`
    select address, next_nonce::integer as next, paused_for as paused from private.gas_payers
     where kind = 'relayer' order by used_at desc nulls last`
}

async function usedGasPayer(): Promise<string> {
  const [gasPayer] = await gasPayers()
  return gasPayer?.address ?? ''
}

const oneEther = '0xde0b6b3a7640000'

const countOf = async (address: string) =>
  Number(await node(world, 'eth_getTransactionCount', address, 'latest'))

test('14. of 25 payments in one transaction one cannot be paid, and the other 24 are', async () => {
  const all = await pairs(world, 25)
  await holdGasPayers(world)
  await Promise.all(all.map((pair) => transfer(world.worker(), pair)))
  const [broke, ...others] = all
  if (!broke) throw new Error('there is no payer')
  await fund(world.chain, broke.payer.address, { weiAmount: 10n ** 18n })
  const drained = await sendAs(world, broke.payer.address, {
    to: world.chain.usdc,
    data: transferCall(issuer, 1_000_000_000n),
  })

  await elapse(world, 5)
  await runHousekeeping(world.world)
  await settleAll(world)

  const [sent] = await world.db.sql<{ slots: number; calls: number }[]>`
    select count(distinct slot)::integer as slots, count(*)::integer as calls
    from private.relay_calls`
  // The failed call was tried once more.
  expect(sent).toEqual({ slots: 2, calls: 25 })
  expect(await outcomesOf(world, others)).toEqual([paidOnce])
  expect(await outcomeOf(world, broke)).toBe('released 0')
  await ledgerEqualsChain(world, [drained])
})

test('18. a payment whose slot a foreign transaction took goes into another slot, once', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  const { body } = await transfer(world.worker(), pair)
  const gasPayer = await usedGasPayer()
  await node(world, 'anvil_dropTransaction', body['tx_hash'])
  await sendAs(world, gasPayer, { to: gasPayer, nonce: '0x0' })
  await node(world, 'evm_mine')
  const foreign = await countOf(gasPayer)

  await runHousekeeping(world.world)
  await settleAll(world)

  const slots = await world.db.sql`select state from private.relay_slots order by id`
  expect(foreign).toBe(1)
  expect(slots).toMatchObject([{ state: 'lost' }, { state: 'final' }])
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('19. a relayer without gas is taken out of service with an alarm, and another one pays', async () => {
  const stuck = await onePair(world)
  const later = await onePair(world)
  await stopMining(world)
  const { body } = await transfer(world.worker(), stuck)
  const gasPayer = await usedGasPayer()
  await node(world, 'anvil_dropTransaction', body['tx_hash'])
  await node(world, 'anvil_setBalance', gasPayer, '0x0')

  await elapse(world, 5)
  await runHousekeeping(world.world)
  const paused = (await gasPayers()).filter(({ paused: why }) => why !== null)
  await transfer(world.worker(), later)
  await node(world, 'evm_mine')
  const outcomes = await outcomesOf(world, [stuck, later])
  await node(world, 'anvil_setBalance', gasPayer, oneEther)
  await settleAll(world)

  expect(paused).toMatchObject([{ address: gasPayer, paused: 'unfunded' }])
  expect(world.log).toContainEqual(expect.objectContaining({ alarm: 'relayer_unfunded' }))
  expect(outcomes).toEqual(['signed 10000000'])
  expect(await outcomesOf(world, [stuck, later])).toEqual([paidOnce])
  await ledgerEqualsChain(world)
})

test('19. a relayer that can pay for few transfers more is told and stays in service', async () => {
  const [gasPayer] = await gasPayers()
  const address = gasPayer?.address ?? ''
  const told = () =>
    world.log.filter((one) => one['alarm'] === 'relayer_low' && one['address'] === address)
  await runHousekeeping(world.world)
  const before = told().length

  await node(world, 'anvil_setBalance', address, '0x470de4df820000')
  await runHousekeeping(world.world)
  const paused = (await gasPayers()).map(({ paused: why }) => why)
  const low = told().length
  await node(world, 'anvil_setBalance', address, oneEther)
  await runHousekeeping(world.world)

  expect(paused).toEqual([null, null])
  expect([low, told().length]).toEqual([before + 1, before + 1])
})

test('19. a relayer that is funded again is back in service', async () => {
  const [gasPayer] = await gasPayers()
  const address = gasPayer?.address ?? ''
  await node(world, 'anvil_setBalance', address, '0x0')
  await runHousekeeping(world.world)

  await node(world, 'anvil_setBalance', address, oneEther)
  await runHousekeeping(world.world)

  expect((await gasPayers()).map(({ paused }) => paused)).toEqual([null, null])
})

test('20. a counter that is ahead of the chain with nothing above it goes back', async () => {
  await world.db.sql`update private.gas_payers set next_nonce = next_nonce + 3`
  const pair = await onePair(world)

  await runHousekeeping(world.world)
  await transfer(world.worker(), pair)
  await settleAll(world)

  expect(new Set((await gasPayers()).map(({ next }) => next))).toEqual(new Set([0, 1]))
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('20. a gap below transactions that were sent is filled, and all of them are paid', async () => {
  const before = await pairs(world, 4)
  await stopMining(world)
  for (const pair of before) await transfer(world.worker(), pair)
  await node(world, 'anvil_dropAllTransactions')
  await world.db.sql`update private.relay_calls set slot = null
    where slot in (select id from private.relay_slots where nonce = 0)`
  await world.db.sql`delete from private.relay_transactions
    where slot in (select id from private.relay_slots where nonce = 0)`
  await world.db.sql`delete from private.relay_slots where nonce = 0`

  await settleAll(world)

  const used = await Promise.all(
    (await gasPayers()).map(async ({ address, next }) => [next, await countOf(address)]),
  )
  expect(used.every(([next, counted]) => next === counted)).toBe(true)
  expect(await outcomesOf(world, before)).toEqual([paidOnce])
  await ledgerEqualsChain(world)
})

test('30. what a relayer has signed takes no other way, until it is released by the chain', async () => {
  const pair = await onePair(world)
  const { payer, payee } = pair
  await stopMining(world)
  const { body } = await transfer(world.worker(), pair)
  await node(world, 'anvil_dropAllTransactions')
  for (const { address } of await gasPayers()) await node(world, 'anvil_setBalance', address, '0x0')
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  await pass(world, 50)
  await runHousekeeping(world.world)

  const order = { ...orderTo(payee), transfer_id: body['transfer_id'] }
  const again = await payer.post(transferPath, order)
  const ownTransactions = await countOf(payer.address)
  await pass(world, 1_500)
  await runHousekeeping(world.world)
  const released = await outcomeOf(world, pair)
  await node(world, 'evm_setAutomine', true)
  await transfer(world.worker(), pair)
  for (const { address } of await gasPayers())
    await node(world, 'anvil_setBalance', address, oneEther)
  await settleAll(world)

  expect(again.body).toMatchObject({ transfer_id: body['transfer_id'], tx_hash: body['tx_hash'] })
  expect(ownTransactions).toBe(0)
  expect(released).toBe('released 0')
  expect(await outcomeOf(world, pair)).toBe('released,settled 10000000')
  await ledgerEqualsChain(world)
})
