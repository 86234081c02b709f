/** A transfer whose relayed transaction is mined without it is sent again. */
import { expect, test } from 'vitest'
import { issuer } from '../../scripts/local/chain/fund.ts'
import { fund } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { transfer as transferCall } from '../support/chain-world.ts'
import { node, pass, sendAs, stopMining } from '../support/faults/chain.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start({ chain: true })

/** Signs a transfer of 10 USDC and mines it after the wallet was emptied. */
async function sendDrained() {
  const { payer, payee } = await acquainted(world)
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  await stopMining(world)
  const sent = await payer.post(transferPath, orderTo(payee))
  await sendAs(world, payer.address, {
    to: world.chain.usdc,
    data: transferCall(issuer, 1_000_000_000n),
    maxFeePerGas: '0x174876e800',
  })
  await node(world, 'evm_mine')
  const look = () => payer.post('/transfer-status', { transfer_id: sent.body['transfer_id'] })
  return { payer, payee, look }
}

async function triesOf(payer: Agent): Promise<number | undefined> {
  const [call] = await world.db.sql<{ tries: number }[]>`
    select c.tries from private.relay_calls c join private.payments p on p.id = c.payment
     where p.account = ${payer.id}`
  return call?.tries
}

test('is tried again, in another transaction', async () => {
  const { payer, payee, look } = await sendDrained()
  await runHousekeeping(world.world)
  const again = await look()
  // It is signed again once the wallet holds enough; the pending transaction would fail again.
  await node(world, 'anvil_dropAllTransactions')
  await node(world, 'evm_setAutomine', true)
  await fund(world.chain, payer.address, { usdcAtomic: 10_000_000n })

  for (let run = 0; run < 3; run += 1) {
    await node(world, 'evm_mine')
    await runHousekeeping(world.world)
  }

  expect(again.body).toMatchObject({ status: 'submitted', finality: 'submitted' })
  expect((await look()).body).toMatchObject({ status: 'settled' })
  expect(await triesOf(payer)).toBe(2)
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})

test('that fails again is put back each time, and told as reverted from the tenth on until it is released', async () => {
  const { payer, payee, look } = await sendDrained()
  const tries = []
  for (let run = 0; run < 11; run += 1) {
    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
    tries.push(await triesOf(payer))
  }

  const reverted = await look()
  await pass(world, 1_800)
  await runHousekeeping(world.world)

  expect(tries).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10])
  expect(reverted.body).toMatchObject({ status: 'submitted', finality: 'reverted' })
  expect((await look()).body).toMatchObject({ status: 'released' })
  expect(await usdcOf(world, payee)).toBe(0n)
})
