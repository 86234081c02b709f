/** A receipt that one of two endpoints made up ends no slot: once it stops, the relayer goes on. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { node, stopMining } from '../support/faults/chain.ts'
import { finalBlock } from '../support/faults/forged.ts'
import { onePair, outcomesOf, paidOnce, transfer } from '../support/faults/pair.ts'
import { forgeAll, minutes, sentBy, worldOfTwo } from '../support/faults/two.ts'

test.each([true, false])('the liar is asked first: %s', async (isFirst) => {
  const { world, liar } = await worldOfTwo({ gasPayers: 1, isFirst })
  const one = await onePair(world)
  await minutes(world, 2)
  await stopMining(world)
  await transfer(world.worker(), one)
  const [sent] = await sentBy(world, one.payer)
  liar.tell(await forgeAll(world, one.payer, await finalBlock(world)))
  await runHousekeeping(world.world)
  liar.tell()
  await node(world, 'anvil_dropTransaction', sent?.tx)
  await node(world, 'evm_setAutomine', true)
  await minutes(world, 3)
  const next = await onePair(world)
  await transfer(world.worker(), next)
  await minutes(world, 3)

  expect(await outcomesOf(world, [one, next])).toEqual([paidOnce])
})
