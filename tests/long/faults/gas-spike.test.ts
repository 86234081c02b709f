/** A transfer waits while gas costs more than the operator pays for a transaction. */
import { expect, test } from 'vitest'
import { maxFeePerGasOf } from '../../../shared/chains/evm/gas.ts'
import { findChain } from '../../../shared/chains/registry.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { mineAt, node, stopMining } from '../../support/faults/chain.ts'
import { orderTo, transferPath } from '../../support/faults/pair.ts'
import { acquainted, usdcOf } from '../../support/ledger.ts'
import { start } from '../../support/world.ts'

const world = await start({ chain: true })

/** Returns the maximum price of a unit of gas for a transfer. */
function ceiling(): bigint {
  const chain = findChain(world.chain.network)
  return chain ? maxFeePerGasOf(chain, world.world.config) : 0n
}

test('a transfer waits while gas is over its budget, and goes with its price below that', async () => {
  const { payer, payee } = await acquainted(world)
  await mineAt(world, 10n ** 9n)
  await stopMining(world)
  await world.worker().post(payer, transferPath, orderTo(payee))
  await node(world, 'anvil_dropAllTransactions')
  await mineAt(world, 2n * ceiling())

  await runHousekeeping(world.world)
  const dearest = await world.db.sql<{ wei: string }[]>`select max_fee_per_gas::text as wei
    from private.relay_transactions where carries <> '{}'`
  await mineAt(world, 10n ** 9n)
  await runHousekeeping(world.world)
  await node(world, 'evm_mine')

  expect(dearest.every(({ wei }) => BigInt(wei) <= ceiling())).toBe(true)
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})
