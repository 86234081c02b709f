/** One endpoint can neither put relayers out of work nor have their spent gas counted repeatedly. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { elapse, node, pass, stopMining } from '../../support/faults/chain.ts'
import { forging, receiptIn, swallowing } from '../../support/faults/forged.ts'
import type { Liar } from '../../support/faults/liar.ts'
import { answering, counting, saying, silent, startLiar } from '../../support/faults/liar.ts'
import { onePair, orderTo, transfer, transferPath } from '../../support/faults/pair.ts'
import { minutes, worldOfTwo } from '../../support/faults/two.ts'
import { limitGas, transferTo } from '../../support/gas.ts'
import { usdcOf } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'
import { start } from '../../support/world.ts'

const hidingReceipts = saying('eth_getTransactionReceipt', () => null)
const poor = answering('getEthBalance(address)', 0n)

test.each([true, false])(
  'a lie that relayers hold nothing takes none out of service; asked first: %s',
  async (isFirst) => {
    const { world, liar } = await worldOfTwo({ lanes: 2, isFirst })
    const { payer, payee } = await onePair(world)
    await runHousekeeping(world.world)
    liar.tell(poor)

    await runHousekeeping(world.world)
    const sent = await transfer(world.worker(), { payer, payee })
    const signed = await signedPayment(world, payer, payee.address)
    await payer.post('/account-freeze', {})
    for (let run = 0; run < 2; run += 1) await runHousekeeping(world.world)
    const paid = await usdcOf(world, payee)
    const used = node(world, 'eth_call', { to: world.chain.usdc, data: signed.calldata }, 'latest')

    await expect(used).rejects.toThrow('authorization is used or canceled')
    expect([sent.status, paid]).toEqual([200, 10_000_000n])
  },
)

test('a transfer leaves at once, however low the endpoint that is asked first counts', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 1, isFirst: true })
  const { payer, payee } = await onePair(world)
  liar.tell(counting(-1_000), hidingReceipts)

  const told: unknown[] = []
  for (let sent = 0; sent < 20; sent += 1) {
    const { body } = await payer.post(transferPath, orderTo(payee, '0.01'))
    told.push(body['status'] ?? body)
  }

  expect(told).toEqual(Array.from({ length: 20 }, () => 'submitted'))
  expect(await usdcOf(world, payee)).toBe(200_000n)
})

test('what is stuck in a lane is replaced, also behind a place that one endpoint hides', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 1 })
  const pair = await onePair(world)
  await node(world, 'anvil_setNextBlockBaseFeePerGas', '0x5f5e100')
  await transfer(world.worker(), pair)
  liar.tell(counting(-1_000), hidingReceipts, swallowing)
  await stopMining(world)
  await transfer(world.worker(), pair)
  await node(world, 'anvil_setNextBlockBaseFeePerGas', '0x12a05f200')
  await node(world, 'evm_mine')

  for (let minute = 0; minute < 3; minute += 1) {
    await elapse(world, 61)
    await runHousekeeping(world.world)
    await node(world, 'anvil_setNextBlockBaseFeePerGas', '0x12a05f200')
    await node(world, 'evm_mine')
  }

  expect(await usdcOf(world, pair.payee)).toBe(20_000_000n)
})

test('of three endpoints one that makes up receipts keeps no place open', async () => {
  const liars: Liar[] = []
  const world = await start({
    chain: true,
    endpoints: async (url) => {
      while (liars.length < 3) liars.push(await startLiar(url))
      return liars.map((one) => one.url)
    },
  })
  const pair = await onePair(world)
  await pass(world, 60)
  const sent = await transfer(world.worker(), pair)
  const tx = String(sent.body['tx_hash'])
  const block = { number: '0x1', hash: `0x${'e'.repeat(64)}` } as const
  liars[0]?.tell(forging(new Map([[tx, receiptIn(block, tx)]])))

  await minutes(world, 3)

  expect(await world.db.sql`select state from private.relay_slots`).toEqual([{ state: 'final' }])
})

test('gas is counted once for 24 hours, however often one endpoint shows it in another block', async () => {
  const { world, liar, honest } = await worldOfTwo({ lanes: 2 })
  await limitGas(world, { callsPerDay: 1n })
  const payer = await world.agent('pay', { usdc: 1000 })
  await pass(world, 60)
  const sent = await transferTo(world, payer, 1, '1')
  const tx = String(sent.body['tx_hash'])
  await runHousekeeping(world.world)

  honest.tell(silent())
  for (let hour = 0; hour < 25; hour += 1) {
    const hash = `0x${hour.toString(16).padStart(64, 'e')}` as const
    liar.tell(forging(new Map([[tx, receiptIn({ number: '0x7fffff', hash }, tx)]])))
    await elapse(world, 3_600)
    await runHousekeeping(world.world)
  }
  liar.tell()
  honest.tell()
  await elapse(world, 61)
  await node(world, 'evm_mine')
  const next = await transferTo(world, payer, 2, '1')

  expect(next.status).toBe(200)
})

test('gas of a call whose receipt is hidden stays reserved, and is free a day after it is shown', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 2 })
  await limitGas(world, { callsPerDay: 1n })
  const payer = await world.agent('pay', { usdc: 1000 })
  await transferTo(world, payer, 1, '1')
  liar.tell(hidingReceipts)
  for (let hour = 0; hour < 30; hour += 1) {
    await pass(world, 3_600)
    await runHousekeeping(world.world)
  }

  const hidden = await transferTo(world, payer, 2, '1')
  liar.tell()
  await minutes(world, 1)
  for (let hour = 0; hour < 24; hour += 1) {
    await pass(world, 3_600)
    await runHousekeeping(world.world)
  }
  const shown = await transferTo(world, payer, 3, '1')

  expect([hidden.status, shown.status]).toEqual([429, 200])
})
