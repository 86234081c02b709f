/** The budget holds when gas costs more than the operator pays for a transaction, or suddenly rises. */
import { expect, test } from 'vitest'
import { maxFeePerGasOf } from '../../../shared/chains/evm/gas/gas-budget.ts'
import { findChain } from '../../../shared/chains/registry.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { elapse, mineAt, node, stopMining } from '../../support/faults/chain.ts'
import { holdLanes, orderTo, transferPath } from '../../support/faults/pair.ts'
import { limitGas } from '../../support/gas.ts'
import { acquainted, usdcOf } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'
import type { Agent } from '../../support/world.ts'
import { start } from '../../support/world.ts'

const world = await start({ chain: true })

/** Returns the maximum price of a unit of gas for a transfer. */
function ceiling(): bigint {
  const chain = findChain(world.chain.network)
  return chain ? maxFeePerGasOf(chain, world.world.config) : 0n
}

test('a cancellation goes out while gas is over the budget of a transfer', async () => {
  const { payer, payee } = await acquainted(world)
  const signed = await signedPayment(world, payer, payee.address)
  await mineAt(world, 2n * ceiling())

  await payer.post('/account-freeze', {})
  await runHousekeeping(world.world)
  await node(world, 'evm_mine')
  const used = node(world, 'eth_call', { to: world.chain.usdc, data: signed.calldata }, 'latest')

  await expect(used).rejects.toThrow('authorization is used or canceled')
})

test('a cancellation waits while gas is over four times the budget of a transfer', async () => {
  const { payer, payee } = await acquainted(world)
  const signed = await signedPayment(world, payer, payee.address)
  const call = { to: world.chain.usdc, data: signed.calldata }
  const looked = async (wei: bigint) => {
    await mineAt(world, wei)
    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
    return node(world, 'eth_call', call, 'latest').catch(String)
  }
  await payer.post('/account-freeze', {})

  const over = await looked(6n * ceiling())
  const within = await looked(3n * ceiling())

  expect(over).toBe('0x')
  expect(within).toContain('authorization is used or canceled')
})

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

test('a cancellation is not held up by a transfer before it that is too dear now', async () => {
  const [waiting, frozen] = [await acquainted(world), await acquainted(world)]
  const signed = await signedPayment(world, frozen.payer, frozen.payee.address)
  await mineAt(world, 10n ** 8n)
  await stopMining(world)
  await world.worker().post(waiting.payer, transferPath, orderTo(waiting.payee))
  await mineAt(world, 2n * ceiling())

  await frozen.payer.post('/account-freeze', {})
  for (let run = 0; run < 3; run += 1) {
    await runHousekeeping(world.world)
    await elapse(world, 61)
    await mineAt(world, 2n * ceiling())
  }
  const used = node(world, 'eth_call', { to: world.chain.usdc, data: signed.calldata }, 'latest')

  await expect(used).rejects.toThrow('authorization is used or canceled')
  expect(await usdcOf(world, waiting.payee)).toBe(0n)
})

/** Returns the wei that relayers charge to an account in the worst case. */
async function chargedTo({ id }: Agent): Promise<bigint> {
  const [row] = await world.db.sql<{ wei: string }[]>`
    select sum(wei)::text as wei from private.gas_uses 
      where account = ${id} and (slot is not null
        or payment in (select p.id from private.payments p where p.state = 'signed'))`
  return BigInt(row?.wei ?? '0')
}

test('of a batch that becomes dearer only those go on whose account has gas left for it', async () => {
  const [poor, rich] = [await acquainted(world), await acquainted(world)]
  const send = ({ payer, payee }: typeof poor) => payer.post(transferPath, orderTo(payee))
  // The gas price of the earlier tests stays reserved for an hour.
  await elapse(world, 3_700)
  await mineAt(world, 10n ** 9n)
  await send(poor)
  await node(world, 'evm_mine')
  await elapse(world, 3_700)
  await mineAt(world, 10n ** 8n)
  await stopMining(world)
  await holdLanes(world)
  await Promise.all([send(poor), send(rich)])
  await elapse(world, 6)
  await runHousekeeping(world.world)
  const weiPerDay = (await chargedTo(poor.payer)) + 10n ** 14n
  await limitGas(world, { weiPerDay })

  await node(world, 'anvil_dropAllTransactions')
  await mineAt(world, 10n ** 9n)
  for (let run = 0; run < 4; run += 1) {
    await elapse(world, 61)
    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
  }

  expect(await chargedTo(poor.payer)).toBeLessThanOrEqual(weiPerDay)
  expect(await chargedTo(rich.payer)).toBeLessThanOrEqual(weiPerDay)
  expect(await usdcOf(world, poor.payee)).toBe(10_000_000n)
  expect(await usdcOf(world, rich.payee)).toBe(10_000_000n)
})
