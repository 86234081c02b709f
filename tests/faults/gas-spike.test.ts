/** Gas that is dearer than what the operator pays for one transaction, or than it was a moment ago. */
import { expect, test } from 'vitest'
import { maxFeePerGasOf } from '../../shared/chains/evm/gas-budget.ts'
import { findChain } from '../../shared/chains/registry.ts'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { node, stopMining } from '../support/faults/chain.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { signedPayment } from '../support/signed.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })

/** The most that a unit of gas may cost for a transfer. */
function ceiling(): bigint {
  const chain = findChain(world.chain.network)
  return chain ? maxFeePerGasOf(chain, world.world.config) : 0n
}

/** A block at this price, and the next ones near it. */
async function setBaseFee(wei: bigint): Promise<void> {
  await node(world, 'anvil_setNextBlockBaseFeePerGas', `0x${wei.toString(16)}`)
  await node(world, 'evm_mine')
}

test('a cancellation goes out while gas is over the budget of a transfer', async () => {
  const { payer, payee } = await acquainted(world)
  const signed = await signedPayment(world, payer, payee.address)
  await setBaseFee(2n * ceiling())

  await payer.post('/account-freeze', {})
  await keepHouse(world.world)
  await node(world, 'evm_mine')
  const used = node(world, 'eth_call', { to: world.chain.usdc, data: signed.calldata }, 'latest')

  await expect(used).rejects.toThrow('authorization is used or canceled')
})

test('a transfer waits while gas is over its budget, and goes with its price below that', async () => {
  const { payer, payee } = await acquainted(world)
  await setBaseFee(10n ** 9n)
  await stopMining(world)
  await world.worker().post(payer, transferPath, orderTo(payee))
  await node(world, 'anvil_dropAllTransactions')
  await setBaseFee(2n * ceiling())

  await keepHouse(world.world)
  const dearest = await world.db.sql<{ wei: string }[]>`select max_fee_per_gas::text as wei
    from private.relay_transactions where carries <> '{}'`
  await setBaseFee(10n ** 9n)
  await keepHouse(world.world)
  await node(world, 'evm_mine')

  expect(dearest.every(({ wei }) => BigInt(wei) <= ceiling())).toBe(true)
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})
