/** One of two endpoints that invents receipts delays at most what it hides, and ends nothing. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc, transact } from '../../../scripts/local/rpc.ts'
import { issuer } from '../../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { node, pass } from '../../support/faults/chain.ts'
import { cheap, finalBlock, forging, receiptIn, swallowing } from '../../support/faults/forged.ts'
import { answering, refusingCalls, saying } from '../../support/faults/liar.ts'
import { onePair, outcomeOf, transfer } from '../../support/faults/pair.ts'
import { forgeAll, minutes, sentBy, worldOfTwo } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'

test('a receipt made up in a final block books nothing for good: what was signed is sent', async () => {
  const { world, liar, honest } = await worldOfTwo({ lanes: 1 })
  const pair = await onePair(world)
  await pass(world, 60)
  liar.tell(swallowing)
  honest.tell(refusingCalls('eth_sendRawTransaction'))
  await transfer(world.worker(), pair)
  honest.tell()
  liar.tell(swallowing, await forgeAll(world, pair.payer, await finalBlock(world)))
  await runHousekeeping(world.world)

  liar.tell()
  await minutes(world, 8)

  expect(await usdcOf(world, pair.payee)).toBe(10_000_000n)
  expect(await outcomeOf(world, pair)).toBe('settled 10000000')
})

test.each(['in a final block', 'far beyond the head'])(
  'receipts made up %s keep no relayer from working on once the lie is over',
  async (where) => {
    const { world, liar } = await worldOfTwo({ lanes: 4 })
    const thief = await onePair(world)
    const other = await onePair(world)
    await node(world, 'anvil_setNextBlockBaseFeePerGas', '0x3b9aca00')
    await pass(world, 60)
    liar.tell(cheap, swallowing)
    for (let sent = 0; sent < 4; sent += 1) await transfer(world.worker(), thief)
    const far = { number: '0x4000000000000', hash: `0x${'d'.repeat(64)}` } as const
    const block = where === 'far beyond the head' ? far : await finalBlock(world)
    liar.tell(cheap, swallowing, await forgeAll(world, thief.payer, block))
    await runHousekeeping(world.world)

    liar.tell()
    for (let sent = 0; sent < 6; sent += 1) {
      await transfer(world.worker(), other)
      await minutes(world, 1)
    }
    await minutes(world, 5)

    expect(await usdcOf(world, other.payee)).toBe(60_000_000n)
  },
  180_000,
)

test('a transfer that arrived is not told as reverted on the word of one endpoint', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 2, isFirst: true })
  const pair = await onePair(world)
  await pass(world, 60)
  const failed = z.looseObject({}).nullable()
  liar.tell(
    saying('eth_getTransactionReceipt', (read) => {
      const receipt = failed.parse(read)
      return receipt && { ...receipt, status: '0x0', logs: [] }
    }),
    answering('authorizationState(address,bytes32)', 0n),
  )

  await transfer(world.worker(), pair)
  const [sent] = await sentBy(world, pair.payer)
  const told: unknown[] = []
  for (let minute = 0; minute < 6; minute += 1) {
    await minutes(world, 1)
    const { body } = await pair.payer.post('/transfer-status', { transfer_id: sent?.id })
    told.push(body['finality'])
  }

  expect(await usdcOf(world, pair.payee)).toBe(10_000_000n)
  expect(told).not.toContain('reverted')
})

test('the cancellation of a frozen payment is sent again, whatever receipt is made up for it', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 2 })
  const pair = await onePair(world)
  const payment = await signedPayment(world, pair.payer, pair.payee.address)
  await node(world, 'anvil_setNextBlockBaseFeePerGas', '0x3b9aca00')
  await pass(world, 30)
  liar.tell(cheap, swallowing)
  await pair.payer.post('/account-freeze', {})
  await runHousekeeping(world.world)
  const rows = await world.db.sql`select tx_hash as tx from private.relay_transactions`
  const stored = z.array(z.object({ tx: z.string() })).parse([...rows])
  const block = await finalBlock(world)
  liar.tell(cheap, swallowing, forging(new Map(stored.map(({ tx }) => [tx, receiptIn(block, tx)]))))
  await runHousekeeping(world.world)

  liar.tell()
  await minutes(world, 3)
  const { rpcUrl, usdc } = world.chain
  await callRpc(rpcUrl, [['anvil_impersonateAccount', issuer]])
  await transact(rpcUrl, issuer, usdc, payment.calldata).catch(() => undefined)

  expect(stored.length).toBeGreaterThan(0)
  expect(await usdcOf(world, pair.payee)).toBe(0n)
})

test('a final payment keeps its log, whatever is made up of its transaction', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 2, isFirst: true })
  const innocent = await onePair(world)
  const thief = await onePair(world)
  await pass(world, 60)
  await transfer(world.worker(), innocent)
  await minutes(world, 3)
  const before = await sentBy(world, innocent.payer)
  const tx = before[0]?.tx ?? ''
  const payment = await signedPayment(world, thief.payer, thief.payee.address)
  const { rpcUrl, usdc } = world.chain
  await callRpc(rpcUrl, [['anvil_impersonateAccount', issuer]])
  await transact(rpcUrl, issuer, usdc, payment.calldata)
  await world.db.sql`update private.payments set state = 'unknown', tx_hash = ${tx}
    where id = ${payment.paymentId}`
  liar.tell(await forgeAll(world, thief.payer, await finalBlock(world)))

  await minutes(world, 1)

  expect(before).toMatchObject([{ log: 1, finality: 'finalized' }])
  expect(await sentBy(world, thief.payer)).toMatchObject([{ tx, log: null }])
  expect(await sentBy(world, innocent.payer)).toEqual(before)
})
