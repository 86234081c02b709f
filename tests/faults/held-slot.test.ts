/** A transaction that carries a stopped transfer is replaced, however close gas is to its budget. */
import { expect, test } from 'vitest'
import { maxFeePerGasOf } from '../../shared/chains/evm/gas.ts'
import { findChain } from '../../shared/chains/registry.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { elapse, mineAt, node, stopMining } from '../support/faults/chain.ts'
import { holdGasPayers, orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { start } from '../support/world.ts'

test('so a freeze delays no transfer of another account in the same transaction', async () => {
  const world = await start({ chain: true, gasPayers: 2 })
  const [frozen, other] = [await acquainted(world), await acquainted(world)]
  const chain = findChain(world.chain.network)
  if (!chain) throw new Error('no chain')
  const baseFee = (maxFeePerGasOf(chain, world.world.config) * 70n) / 100n
  await mineAt(world, baseFee)
  await stopMining(world)
  await holdGasPayers(world)
  for (const { payer, payee } of [frozen, other]) {
    await world.worker().post(payer, transferPath, orderTo(payee))
  }
  await elapse(world, 6)
  await runHousekeeping(world.world)
  await node(world, 'anvil_dropAllTransactions')

  await frozen.payer.post('/account-freeze', {})
  for (let minute = 0; minute < 4; minute += 1) {
    await elapse(world, 60)
    await runHousekeeping(world.world)
    await mineAt(world, baseFee)
  }

  expect(await usdcOf(world, frozen.payee)).toBe(0n)
  expect(await usdcOf(world, other.payee)).toBe(10_000_000n)
})
