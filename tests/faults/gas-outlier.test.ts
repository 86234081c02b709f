/** A short spike of the gas price makes no other payment dearer, and delays none longer than reported. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { node, pass } from '../support/faults/chain.ts'
import { limitGas } from '../support/gas.ts'
import { acquainted } from '../support/ledger.ts'
import { anew } from '../support/wish.ts'
import { start } from '../support/world.ts'

const gwei = 10n ** 9n
const hex = (value: bigint) => `0x${value.toString(16)}`

/** Starts a world whose account can pay at 0.01 gwei and cannot at 3 gwei. */
async function quietChain() {
  const world = await start({ chain: true })
  await limitGas(world, { weiPerDay: 160_000n * gwei })
  const { payer, payee } = await acquainted(world)
  const blocksAt = async (wei: bigint, count = 1n) => {
    await node(world, 'anvil_setNextBlockBaseFeePerGas', hex(wei))
    await node(world, 'anvil_mine', hex(count))
  }
  await blocksAt(gwei / 100n, 8n)
  const pay = () =>
    payer.post(
      '/wallet-custodial-transfer',
      anew({
        chain: 'base-sepolia',
        token: 'USDC',
        amount: '1',
        recipient: payee.address,
      }),
    )
  return { world, pay, blocksAt }
}

test('the tip of one transaction keeps nobody from paying', async () => {
  const { world, pay, blocksAt } = await quietChain()
  const [from] = z.array(z.string()).parse(await node(world, 'eth_accounts'))
  const fees = { maxFeePerGas: hex(14n * gwei), maxPriorityFeePerGas: hex(7n * gwei) }
  await node(world, 'eth_sendTransaction', { from, to: from, ...fees })
  await node(world, 'evm_mine')
  await blocksAt(gwei / 100n)

  await runHousekeeping(world.world)
  const during = await pay()
  await pass(world, 60)
  await runHousekeeping(world.world)

  expect(during.body).toMatchObject({ status: 'submitted' })
  expect((await pay()).body).toMatchObject({ status: 'submitted' })
})

test('gas that was dear for two minutes is not reserved for an hour', async () => {
  const { world, pay, blocksAt } = await quietChain()
  for (const price of [gwei / 100n, 3n * gwei, 3n * gwei, gwei / 100n]) {
    await pass(world, 60)
    await blocksAt(price)
    await runHousekeeping(world.world)
  }

  expect((await pay()).body).toMatchObject({ status: 'submitted' })
})

test('gas that was dear for longer is reserved until the time that is told', async () => {
  const { world, pay, blocksAt } = await quietChain()
  for (const price of [3n * gwei, 3n * gwei, 3n * gwei, 3n * gwei, gwei / 100n]) {
    await pass(world, 60)
    await blocksAt(price)
    await runHousekeeping(world.world)
  }
  const again = z.object({ error: z.literal('relay_limit_reached'), retry_after_seconds: z.int() })
  const lookAfter = async (seconds: number) => {
    await pass(world, seconds)
    await blocksAt(gwei / 100n)
    await runHousekeeping(world.world)
    return pay()
  }

  const { retry_after_seconds: seconds } = again.parse((await pay()).body)
  const before = await lookAfter(seconds - 30)
  const after = await lookAfter(30)

  expect(seconds).toBeLessThanOrEqual(3_600)
  expect(before.body).toMatchObject({ error: 'relay_limit_reached' })
  expect(after.body).toMatchObject({ status: 'submitted' })
})
