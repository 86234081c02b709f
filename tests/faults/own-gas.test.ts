/** A wallet that pays its own gas signs only what it can pay for, and each of its transfers ends. */
import { beforeEach, expect, test } from 'vitest'
import { fund } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { node, pass, stopMining } from '../support/faults/chain.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, proven, statesOf, usdcOf } from '../support/ledger.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start({ chain: true })

beforeEach(async () => {
  await world.db.sql`update private.gas_payers set paused_for = 'a test' where kind = 'relayer'`
})

/** Gives a wallet slightly more wei than one transaction can cost now. */
async function fundOnce({ address }: Agent): Promise<void> {
  const [{ cost } = { cost: '0' }] = await world.db.sql<{ cost: string }[]>`
    select max(cost_wei)::text as cost from private.relay_transactions`
  const weiAmount = cost === null || cost === '0' ? 10n ** 15n : (BigInt(cost) * 12n) / 10n
  await fund(world.chain, address, { weiAmount })
}

const send = (payer: Agent, payee: Agent, amount = '10') =>
  payer.post(transferPath, orderTo(payee, amount))

test('a wallet signs no second transfer that it could not pay for beside the first', async () => {
  const rich = await acquainted(world)
  await fund(world.chain, rich.payer.address, { weiAmount: 10n ** 18n })
  await send(rich.payer, rich.payee)
  const { payer, payee } = await acquainted(world)
  await fundOnce(payer)
  await stopMining(world)

  const first = await send(payer, payee)
  const second = await send(payer, payee)

  expect(first).toMatchObject({ status: 200, body: { status: 'submitted' } })
  expect(second).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(await statesOf(world, payer)).toEqual(['signed', 'prepared'])
})

test('transfers of a wallet that nobody mined for days move nothing once it has gas', async () => {
  const { payer, payee } = await acquainted(world)
  await fundOnce(payer)
  await stopMining(world)
  for (let day = 0; day < 3; day += 1) {
    await send(payer, payee)
    await node(world, 'anvil_dropAllTransactions')
    await pass(world, 86_400)
    await node(world, 'anvil_setBalance', payer.address, '0x0')
    await runHousekeeping(world.world)
    await fundOnce(payer)
  }

  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  for (let run = 0; run < 6; run += 1) {
    await runHousekeeping(world.world)
    await node(world, 'anvil_mine', '0x10')
    await pass(world, 61)
  }

  expect(await usdcOf(world, payee)).toBe(0n)
  expect(new Set(await statesOf(world, payer))).toEqual(new Set(['released']))
})

test('an own transfer that is stuck when it ends is replaced by nothing, and the next one goes', async () => {
  const { payer, payee } = await acquainted(world)
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  await stopMining(world)
  const stuck = await send(payer, payee)
  await node(world, 'anvil_dropAllTransactions')

  await pass(world, 1_800)
  await node(world, 'anvil_dropAllTransactions')
  await runHousekeeping(world.world)
  await node(world, 'anvil_mine', '0x10')
  await runHousekeeping(world.world)
  await node(world, 'evm_setAutomine', true)
  const next = await send(payer, payee)
  const settled = await proven(payer, next.body['tx_hash'])

  expect(stuck.body).toMatchObject({ status: 'submitted' })
  expect(settled.body).toMatchObject({ status: 'settled' })
  expect(await statesOf(world, payer)).toEqual(['released', 'settled'])
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})

test('two transfers of one wallet at once are both sent, each in a slot of its own', async () => {
  const { payer, payee } = await acquainted(world)
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })

  const sent = await Promise.all([send(payer, payee), send(payer, payee)])
  const settled = await Promise.all(sent.map(({ body }) => proven(payer, body['tx_hash'])))

  expect(settled.map(({ body }) => body['status'])).toEqual(['settled', 'settled'])
  expect(await usdcOf(world, payee)).toBe(20_000_000n)
})

test('a wallet has no more than sixteen transactions in flight, and says when to go on', async () => {
  const { payer, payee } = await acquainted(world)
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  await stopMining(world)
  for (let count = 0; count < 16; count += 1) await send(payer, payee, '0.01')

  const over = await send(payer, payee, '0.01')
  await node(world, 'anvil_mine', '0x10')
  await runHousekeeping(world.world)
  const later = await send(payer, payee, '0.01')

  expect(over).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(over.body['message']).toContain('transactions of its own in flight')
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(later).toMatchObject({ status: 200, body: { status: 'submitted' } })
})
