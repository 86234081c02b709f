/** A lie of one of two endpoints during a short silence of the other holds no longer than that silence. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc, transact } from '../../../scripts/local/rpc.ts'
import { issuer } from '../../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { elapse, pass } from '../../support/faults/chain.ts'
import { finalBlock, forging, receiptIn, swallowing } from '../../support/faults/forged.ts'
import { refusingCalls, silent } from '../../support/faults/liar.ts'
import { onePair, transfer } from '../../support/faults/pair.ts'
import { minutes, worldOfTwo } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'
import type { TestWorld } from '../../support/world.ts'

type Two = Awaited<ReturnType<typeof worldOfTwo>>

/** Returns a lie: every stored transaction is mined, without any log. */
async function withoutLogs(world: TestWorld, status: string) {
  const rows = await world.db.sql`select tx_hash as tx from private.relay_transactions`
  const stored = z.array(z.object({ tx: z.string() })).parse([...rows])
  const block = await finalBlock(world)
  return forging(new Map(stored.map(({ tx }) => [tx, { ...receiptIn(block, tx), status }])))
}

/**
 * Runs `send` while one endpoint forges receipts of swallowed transactions; the other is silent for 20
 * s.
 */
async function whileSilent(
  { world, liar, honest }: Two,
  status: string,
  send: () => Promise<unknown>,
) {
  liar.tell(swallowing)
  honest.tell(refusingCalls('eth_sendRawTransaction'), silent())
  await send()
  const lie = await withoutLogs(world, status)
  liar.tell(swallowing, lie)
  await elapse(world, 20)
  await runHousekeeping(world.world)
  honest.tell()
  return lie
}

const placesAs = async ({ db }: TestWorld, state: string) =>
  (await db.sql`select from private.relay_slots where state = ${state}`).length

test.each(['0x1', '0x0'])(
  'relayers work on, whatever receipts of status %s one endpoint made up while the other was silent',
  async (status) => {
    const two = await worldOfTwo({ lanes: 2, isFirst: true })
    const { world } = two
    const thief = await onePair(world)
    const other = await onePair(world)
    await pass(world, 60)
    await whileSilent(two, status, async () => {
      for (let sent = 0; sent < 4; sent += 1) await transfer(world.worker(), thief)
    })
    const believed = await placesAs(world, 'mined')

    for (let sent = 0; sent < 3; sent += 1) {
      await transfer(world.worker(), other)
      await minutes(world, 1)
    }
    await minutes(world, 1)

    expect(believed).toBeGreaterThan(0)
    expect(await usdcOf(world, other.payee)).toBe(30_000_000n)
    expect(world.log.map(({ alarm }) => alarm)).toContain('endpoints_disagree')
  },
  120_000,
)

test('a cancellation is sent again, whatever receipt was made up for it while the other was silent', async () => {
  const two = await worldOfTwo({ lanes: 2, isFirst: true })
  const { world } = two
  const pair = await onePair(world)
  await pass(world, 60)
  const payment = await signedPayment(world, pair.payer, pair.payee.address)
  await whileSilent(two, '0x1', async () => {
    await pair.payer.post('/account-freeze', {})
    await runHousekeeping(world.world)
  })
  const believed = await placesAs(world, 'mined')

  await minutes(world, 2)
  const { rpcUrl, usdc } = world.chain
  await callRpc(rpcUrl, [['anvil_impersonateAccount', issuer]])
  await transact(rpcUrl, issuer, usdc, payment.calldata).catch(() => undefined)

  expect(believed).toBe(1)
  expect(await usdcOf(world, pair.payee)).toBe(0n)
})
