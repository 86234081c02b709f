/** The balance of each wallet is compared with the books once a day, and a difference alarms. */
import { beforeEach, expect, test } from 'vitest'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { reconcileBalances } from '../../shared/payments/deposits/reconcile.ts'
import { newKey } from '../support/chain-world.ts'
import { payAs, sendAs } from '../support/deposits.ts'
import { alarmsOf, holds, isFrozen, owned } from '../support/outflows.ts'
import { signedPayment } from '../support/signed.ts'
import { finalize, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true })
  await indexTransfers(world.world)
})

/** Reads the balances, and compares them once their block is final. */
async function compare(): Promise<void> {
  await reconcileBalances(world.world, false)
  await finalize(world.chain)
  await indexTransfers(world.world)
  await reconcileBalances(world.world, false)
  await world.tick(86_401)
}

test('what comes and what is paid is explained', async () => {
  const { agent } = await owned(world)
  await compare()
  await payAs(world, newKey().at, agent.address, 0n)
  const signed = await signedPayment(world, agent, newKey().at)
  await sendAs(world, newKey().at, signed.calldata)

  await compare()

  expect(alarmsOf(world, agent)).toEqual([])
})

test.each([
  ['less', 999_000_000, 'balance_short'],
  ['more', 1_001_000_000, 'balance_surplus'],
])(
  'a wallet that holds %s than the books say alarms once, and freezes nobody',
  async (_, held, alarm) => {
    const { agent } = await owned(world)
    await compare()
    await holds(world, agent, held)

    await compare()
    await compare()

    expect(alarmsOf(world, agent)).toEqual([alarm])
    expect(await isFrozen(world, agent)).toBe(false)
  },
)
