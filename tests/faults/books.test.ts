/**
 * The books are written from final blocks: what left is settled, what ended without leaving is released, and
 * what no payment explains is told. Nothing that an endpoint shows before counts.
 */
import { beforeAll, expect, test } from 'vitest'
import { transferTopic, useTopic } from '../../shared/chains/evm/rpc/logs.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { newKey, transfer } from '../support/chain-world.ts'
import { payAs, sendAs, transferFrom } from '../support/deposits.ts'
import { node, pass } from '../support/faults/chain.ts'
import { hiding } from '../support/faults/liar.ts'
import { onePair } from '../support/faults/pair.ts'
import { minutes, worldOfTwo } from '../support/faults/two.ts'
import { statesOf, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import {
  alarmsOf,
  countedOf,
  feedOf,
  isFrozen,
  owned,
  signedPermit,
  verdictsOn,
} from '../support/outflows.ts'
import { signedPayment } from '../support/signed.ts'
import type { TestWorld } from '../support/world.ts'
import { finalize, start } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
  await indexTransfers(world.world)
})

/** Makes everything mined so far final, and books it. */
async function book(): Promise<void> {
  await finalize(world.chain)
  await indexTransfers(world.world)
}

test('a payment counts in full until a day after the end of its signature, whatever is shown before', async () => {
  const { agent } = await owned(world)
  const signed = await signedPayment(world, agent, newKey().at)
  await sendAs(world, newKey().at, signed.calldata)
  const shown = await agent.post('/transfer-status', { transfer_id: signed.paymentId })
  const [row] = await world.db.sql`select finality from private.payments
    where id = ${signed.paymentId}`
  await world.tick(2 * 86_400)
  const beforeFinal = await countedOf(world, agent)
  await world.tick(-2 * 86_400)
  await book()
  const last = 600 + 86_400
  await world.tick(last - 60)
  const before = await countedOf(world, agent)
  await world.tick(61)

  expect(shown.body).toMatchObject({ status: 'settled', finality: 'included' })
  expect(row).toEqual({ finality: 'included' })
  expect(await statesOf(world, agent)).toEqual(['settled'])
  expect([beforeFinal, before, await countedOf(world, agent)]).toEqual(['5000000', '5000000', '0'])
  await world.tick(-last - 1)
})

test('what was signed and not used is released by a final block after its end, and by none before', async () => {
  const { agent } = await owned(world)
  const signed = await signedPayment(world, agent, newKey().at)
  await pass(world, 500)
  await book()
  const before = await statesOf(world, agent)
  await pass(world, 200)
  await book()

  expect([before, await statesOf(world, agent)]).toEqual([['signed'], ['released']])
  const use = node(world, 'eth_call', { to: world.chain.usdc, data: signed.calldata }, 'latest')
  await expect(use).rejects.toThrow('authorization is expired')
})

test('a use that nobody looked for is settled when its block is final', async () => {
  const { agent } = await owned(world)
  const { agent: payee } = await owned(world, 0)
  const signed = await signedPayment(world, agent, payee.address)
  await sendAs(world, newKey().at, signed.calldata)

  await book()

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment: signed.paymentId }])
  const { body } = await agent.post('/transfer-status', { transfer_id: signed.paymentId })
  expect(body).toMatchObject({ status: 'settled', finality: 'finalized' })
  expect(await feedOf(payee)).toMatchObject([{ type: 'received', summary: textWith('5 USDC') }])
})

test('a transfer that no payment explains is in the feed, mailed and alarmed once, and freezes nobody', async () => {
  const { agent, told } = await owned(world)
  const thief = newKey().at
  await sendAs(world, agent.address, transfer(thief, 7_000_000n))

  await book()
  await book()

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'unexplained', payment: null }])
  expect(await isFrozen(world, agent)).toBe(false)
  expect(alarmsOf(world, agent)).toEqual(['unexplained_outflow'])
  const summary = textWith(`7 USDC left the wallet on Base Sepolia for ${thief}`)
  expect((await feedOf(agent)).slice(0, 1)).toMatchObject([
    { type: 'unexplained_transfer', summary },
  ])
  expect(await told()).toEqual(['Money left your account that no payment explains'])
})

test('what anybody can write in the name of a wallet is none of it', async () => {
  const { agent } = await owned(world)
  await sendAs(world, newKey().at, transferFrom(agent.address, newKey().at, 0n))
  await payAs(world, agent.address, agent.address, 1n)

  await book()

  expect(await verdictsOn(world, agent)).toEqual([])
})

test('each transfer to a payee finds a permit that it fits, and the others are released', async () => {
  const { agent } = await owned(world)
  const payee = newKey().at
  await world.acquaint(agent, payee)
  const exact = await signedPermit(world, agent, payee, 'exact')
  const upto = await signedPermit(world, agent, payee, 'upto')
  const unused = await signedPermit(world, agent, payee, 'upto')
  await sendAs(world, agent.address, transfer(payee, 3_000_000n))
  await sendAs(world, agent.address, transfer(payee, 5_000_000n))
  await book()
  const counted = await countedOf(world, agent)
  await pass(world, 700)
  await book()

  const verdicts = await verdictsOn(world, agent)
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['booked', 'booked'])
  const found = new Set(verdicts.map(({ payment }) => payment))
  expect([exact, upto, unused].filter((id) => found.has(id))).toHaveLength(2)
  expect((await statesOf(world, agent)).toSorted()).toEqual(['released', 'settled', 'settled'])
  // A permit of `upto` counts at the signed amount, whatever less was taken.
  expect([counted, await countedOf(world, agent)]).toEqual(['15000000', '10000000'])
})

test.each([true, false])(
  'a use that one of two endpoints hides is released by no word of its own; it is asked first: %s',
  async (isFirst) => {
    const two = await worldOfTwo({ lanes: 1, isFirst })
    const { payer, payee } = await onePair(two.world)
    await pass(two.world, 60)
    const signed = await signedPayment(two.world, payer, payee.address)
    await sendAs(two.world, newKey().at, signed.calldata)
    two.liar.tell(hiding(transferTopic), hiding(useTopic))
    await minutes(two.world, 20, 4)
    const hidden = await statesOf(two.world, payer)
    two.liar.tell()
    await minutes(two.world, 4, 4)

    expect(hidden).not.toContain('released')
    expect(await statesOf(two.world, payer)).toEqual(['settled'])
    expect(await usdcOf(two.world, payee)).toBe(5_000_000n)
  },
)
