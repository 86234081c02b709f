/** One of two endpoints that lies about relayer slots, their receipts or the base fee stops no payment. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../../scripts/local/chain.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { transferTopic } from '../../support/deposits.ts'
import { elapse, node, pass } from '../../support/faults/chain.ts'
import { forging, receiptIn, reportedPayment, swallowing } from '../../support/faults/forged.ts'
import { counting, hiding, type Lie, saying, silent } from '../../support/faults/liar.ts'
import { onePair, orderTo, transfer, transferPath } from '../../support/faults/pair.ts'
import { minutes, worldOfTwo } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { countedOf } from '../../support/outflows.ts'
import type { TestWorld } from '../../support/world.ts'

const hidingReceipts = saying('eth_getTransactionReceipt', () => null)
const hex = (value: bigint) => `0x${value.toString(16)}` as const

/** Returns how often transfers were put into a slot. */
async function carriedIn({ db }: TestWorld): Promise<number> {
  const rows = await db.sql<{ tries: number }[]>`select tries from private.relay_calls`
  return rows.reduce((sum, { tries }) => sum + tries, 0)
}

/** Returns each slot with its number of signed transactions and their highest max fee per gas. */
async function slotsOf({ db }: TestWorld) {
  const rows = await db.sql`select s.state, count(t.*)::integer as attempts,
      coalesce(max(t.max_fee_per_gas), 0)::text as fee
    from private.relay_slots s left join private.relay_transactions t on t.slot = s.id group by s.id`
  const slot = z.object({ state: z.string(), attempts: z.int(), fee: z.string() })
  return z.array(slot).parse([...rows])
}

test('a slot that one endpoint shows as mined is not given up, and nothing in it is sent again', async () => {
  const { world, liar } = await worldOfTwo({ gasPayers: 4 })
  const other = await onePair(world)
  await pass(world, 60)
  liar.tell(hidingReceipts)

  await transfer(world.worker(), other)
  await minutes(world, 12)
  const uses = await carriedIn(world)
  liar.tell()
  await minutes(world, 3)

  expect(uses).toBe(1)
  expect(await usdcOf(world, other.payee)).toBe(10_000_000n)
  expect(new Set((await slotsOf(world)).map(({ state }) => state))).toEqual(new Set(['final']))
}, 120_000)

test('a wallet goes on to pay its own gas while one endpoint hides what it has sent', async () => {
  const { world, liar } = await worldOfTwo({ gasPayers: 1 })
  await world.db.sql`update private.gas_payers set paused_for = 'a test'`
  const { payer, payee } = await onePair(world)
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  liar.tell(hidingReceipts)

  const answers = []
  for (let sent = 0; sent < 18; sent += 1) {
    answers.push(await payer.post(transferPath, orderTo(payee, '0.01')))
    if (sent % 6 === 5) await minutes(world, 1)
  }

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await usdcOf(world, payee)).toBe(180_000n)
})

test('a count of mined transactions does not fall by the word of one endpoint while the other is silent', async () => {
  const { world, liar, honest } = await worldOfTwo({ gasPayers: 2 })
  const pair = await onePair(world)
  const gasPayers = await world.db.sql<
    { address: string }[]
  >`select address from private.gas_payers`
  for (const { address } of gasPayers) await node(world, 'anvil_setNonce', address, '0x64')
  await runHousekeeping(world.world)
  liar.tell(counting(-1_000))
  honest.tell(silent())
  await runHousekeeping(world.world)
  honest.tell()

  const sent = await transfer(world.worker(), pair)
  await minutes(world, 2)

  expect(sent.status).toBe(200)
  expect(await usdcOf(world, pair.payee)).toBe(10_000_000n)
  expect(await world.db.sql`select distinct paused_for from private.gas_payers`).toEqual([
    { paused_for: null },
  ])
})

test('a payment that is settled counts for 24 hours, whatever blocks one endpoint tells for it', async () => {
  const { world, liar } = await worldOfTwo({ gasPayers: 2, isFirst: true })
  const pair = await onePair(world)
  await pass(world, 60)
  await transfer(world.worker(), pair)
  await node(world, 'anvil_mine', '0x1')
  await runHousekeeping(world.world)
  const rows = await world.db.sql`select wallet, payee, token, tx_hash as tx,
      amount_atomic::text as amount, authorization_nonce as nonce, block_number::integer as block
    from private.payments`
  const told = reportedPayment.extend({ tx: z.string(), block: z.int() }).parse(rows[0])
  const number = hex(BigInt(told.block))
  const early = saying('eth_getBlockByNumber', (read, [tag]) =>
    tag === 'safe' || tag === 'finalized'
      ? { ...z.looseObject({}).parse(read), number: '0x1' }
      : read,
  )

  for (let hour = 0; hour < 26; hour += 1) {
    const hash = `0x${hour.toString(16).padStart(64, 'e')}` as const
    liar.tell(
      hiding(transferTopic),
      early,
      forging(new Map([[told.tx, receiptIn({ number, hash }, told.tx, [told])]])),
    )
    await pass(world, 3_600)
    await runHousekeeping(world.world)
  }

  expect(await countedOf(world, pair.payer)).toBe('0')
}, 60_000)

/** Returns a lie about the base fee of the next block. */
const pricing = (base: bigint): Lie =>
  saying('eth_feeHistory', () => ({ baseFeePerGas: [hex(base)], reward: [['0x0']] }))

/** Passes a minute, then mines a block with this base fee and runs housekeeping. */
async function minuteAt(world: TestWorld, base: bigint) {
  await elapse(world, 61)
  await node(world, 'anvil_setNextBlockBaseFeePerGas', hex(base))
  await node(world, 'evm_mine')
  await runHousekeeping(world.world)
}

test('relayers whose transactions one endpoint had priced too low work on once it tells the truth', async () => {
  const { world, liar } = await worldOfTwo({ gasPayers: 1 })
  const thief = await onePair(world)
  const pair = await onePair(world)
  const gwei = 10n ** 9n
  await minuteAt(world, gwei)
  liar.tell(swallowing, pricing(0n))
  await transfer(world.worker(), thief)
  for (let minute = 0; minute < 24; minute += 1) {
    await minuteAt(world, gwei)
    const [slot] = await slotsOf(world)
    if (slot && slot.attempts >= 12) liar.tell(swallowing, pricing(BigInt(slot.fee)))
    if (slot && slot.attempts >= 16) break
  }

  liar.tell()
  await minuteAt(world, gwei)
  await transfer(world.worker(), pair)
  await minuteAt(world, gwei)
  await minuteAt(world, gwei)

  expect(await usdcOf(world, pair.payee)).toBe(10_000_000n)
}, 60_000)
