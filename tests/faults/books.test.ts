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
import { allowPermit2, bookedOf, nonces, signedPermit } from '../support/faults/permits.ts'
import { minutes, worldOfTwo } from '../support/faults/two.ts'
import { statesOf, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { alarmsOf, countedOf, feedOf, isFrozen, owned, verdictsOn } from '../support/outflows.ts'
import { signedPayment } from '../support/signed.ts'
import { finalize, start, type TestWorld } from '../support/world.ts'

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

test.each(['a purchase', 'a permit'])(
  '%s that left and was not looked at is taken from the balance once',
  async (kind) => {
    const { agent } = await owned(world, 10)
    const payee = newKey().at
    await world.acquaint(agent, payee)
    if (kind === 'a permit') {
      await allowPermit2(world, agent)
      const permit = await signedPermit(world, agent, 'exact', {}, { payee })
      await permit.use()
    } else {
      const signed = await signedPayment(world, agent, payee)
      await sendAs(world, newKey().at, signed.calldata)
    }
    const order = {
      recipient: payee,
      chain: world.chain.network,
      token: 'USDC',
      user_confirmed: true,
    }

    const more = await agent.post('/wallet-custodial-transfer', { ...order, amount: '5.01' })
    const rest = await agent.post('/wallet-custodial-transfer', { ...order, amount: '5' })

    expect(more).toMatchObject({ status: 409, body: { error: 'insufficient_funds' } })
    expect(rest).toMatchObject({ status: 200 })
  },
)

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

test('permits are ended by their nonces, however their transfers look alike', async () => {
  const { agent } = await owned(world)
  await allowPermit2(world, agent)
  const payee = newKey().at
  await world.acquaint(agent, payee)
  const upto = await signedPermit(world, agent, 'upto', {}, { payee, takes: 4_999_999n })
  const exact = await signedPermit(world, agent, 'exact', {}, { payee })
  const unused = await signedPermit(world, agent, 'upto', {}, { payee })
  await exact.use()
  await upto.use()
  await book()
  const counted = await countedOf(world, agent)
  await pass(world, 700)
  await book()

  expect(await verdictsOn(world, agent)).toEqual([
    { verdict: 'booked', payment: exact.id },
    { verdict: 'booked', payment: upto.id },
  ])
  const ended = await Promise.all([exact, upto, unused].map(({ id }) => bookedOf(world, id)))
  expect(ended.map((one) => one?.state)).toEqual(['settled', 'settled', 'released'])
  // A permit of `upto` counts at the signed amount, whatever less was taken.
  expect([counted, await countedOf(world, agent)]).toEqual(['15000000', '10000000'])
})

test('a permit that was used late is counted, though another one fitted its transfer before', async () => {
  const { agent } = await owned(world)
  await allowPermit2(world, agent)
  const payee = newKey().at
  await world.acquaint(agent, payee)
  const terms = { payee, atomic: 10_000_000n, takes: 5_000_000n }
  const first = await signedPermit(world, agent, 'upto', {}, terms)
  await pass(world, 290)
  const second = await signedPermit(world, agent, 'upto', {}, { payee })
  await first.use()
  await pass(world, 290)
  await book()
  await second.use()
  await book()
  await pass(world, 700)
  await book()

  expect(await verdictsOn(world, agent)).toMatchObject([
    { verdict: 'booked' },
    { verdict: 'booked' },
  ])
  expect(await countedOf(world, agent)).toBe('15000000')
})

test.each([true, false])(
  'a use that one of two endpoints hides is released by no word of its own; it is asked first: %s',
  async (isFirst) => {
    const two = await worldOfTwo({ gasPayers: 1, isFirst })
    const { payer, payee } = await onePair(two.world)
    await pass(two.world, 60)
    const signed = await signedPayment(two.world, payer, payee.address)
    await sendAs(two.world, newKey().at, signed.calldata)
    two.liar.tell(hiding(transferTopic), hiding(useTopic), nonces(false))
    await minutes(two.world, 20, 4)
    const hidden = await statesOf(two.world, payer)
    two.liar.tell()
    await minutes(two.world, 4, 4)

    expect(hidden).not.toContain('released')
    expect(await statesOf(two.world, payer)).toEqual(['settled'])
    expect(await usdcOf(two.world, payee)).toBe(5_000_000n)
  },
)

test('a nonce that one of two endpoints shows as used ends nothing', async () => {
  const two = await worldOfTwo({ gasPayers: 1, isFirst: true })
  const { payer, payee } = await onePair(two.world)
  await signedPayment(two.world, payer, payee.address)
  two.liar.tell(nonces(true))
  await minutes(two.world, 20, 4)
  const claimed = await statesOf(two.world, payer)
  two.liar.tell()
  await minutes(two.world, 4, 4)

  expect([claimed, await statesOf(two.world, payer)]).toEqual([['signed'], ['released']])
})

test('signatures end by their nonces even if the transfers of a block cannot be read', async () => {
  const two = await worldOfTwo({ gasPayers: 1, isFirst: true })
  const { payer, payee } = await onePair(two.world)
  const used = await signedPayment(two.world, payer, payee.address)
  await signedPayment(two.world, payer, payee.address)
  two.liar.tell(hiding(transferTopic), hiding(useTopic))
  await sendAs(two.world, newKey().at, used.calldata)
  await minutes(two.world, 20, 4)

  expect((await statesOf(two.world, payer)).toSorted()).toEqual(['released', 'settled'])
})
